"""Tags: of a quota share's resource (its team, the team's tags, the share's own), and of the jobs in it."""

from collections.abc import Container

from policy_engine.topology.model import OwnedShare, Tags, Topology
from policy_engine.topology.service_limits import MAX_TAG_VALUE_LENGTH

TEAM_TAG = "batch-quota:team"
"""Names the team on each of its quota shares. AWS knows shares and no teams."""
JOB_TAG = "batch-quota:quota-share"
"""Names queue and share, as `QUEUE/SHARE`, on each service job: IAM tells jobs apart by nothing else."""

TRAINING_PLAN_TAG = "batch-quota:training-plan:"
"""Begins the tags that name, by instance type, what to put into a job's `ResourceConfig.TrainingPlanArn`."""


def quota_share_tags(topology: Topology, owned: OwnedShare) -> Tags:
    """All tags of a quota share. The share's own win over the team's of the same key."""
    plans = _training_plan_tags(topology, owned.share.capacity)
    return {TEAM_TAG: owned.team, **plans, **topology.teams[owned.team].tags, **owned.share.tags}


def queue_tags(topology: Topology) -> Tags:
    """All tags of the queue."""
    return {**_training_plan_tags(topology, topology.written_capacity), **topology.queue.tags}


def _training_plan_tags(topology: Topology, units: Container[str]) -> Tags:
    """A tag for each of these instance types that plans back: their ARNs, unless a tag has no room for them."""
    plans: dict[str, dict[str, None]] = {}
    for entry in topology.capacity_entries():
        if entry.plan is not None and entry.unit in units:
            plans.setdefault(entry.unit, {})[entry.plan.training_plan] = None
    tags = {f"{TRAINING_PLAN_TAG}{unit}": " ".join(arns) for unit, arns in plans.items()}
    return {key: value for key, value in tags.items() if len(value) <= MAX_TAG_VALUE_LENGTH}
