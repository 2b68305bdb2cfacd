"""Tags: of a quota share's resource (its team, the team's tags, the share's own), and of the jobs in it."""

from policy_engine.topology.model import OwnedShare, Tags, Topology

TEAM_TAG = "batch-quota:team"
"""Names the team on each of its quota shares. AWS knows shares and no teams."""
JOB_TAG = "batch-quota:quota-share"
"""Names queue and share, as `QUEUE/SHARE`, on each service job: IAM tells jobs apart by nothing else."""


def quota_share_tags(topology: Topology, owned: OwnedShare) -> Tags:
    """All tags of a quota share. The share's own win over the team's of the same key."""
    return {TEAM_TAG: owned.team, **topology.teams[owned.team].tags, **owned.share.tags}
