"""What a change does to jobs that are waiting or running, as far as AWS says.

Sources: "Updating service environments", "Quota shares", "Preemption" and "Delete a job queue" in the AWS Batch user
guide; UpdateQuotaShare, DeleteQuotaShare, UpdateServiceEnvironment and UpdateJobQueue in the AWS Batch API reference.
"""

from collections.abc import Iterator

from policy_engine.change.comparing import QUOTA_MANAGEMENT, Action, QueueChange, ResourceChange, SettingChange
from policy_engine.durations import parse_milliseconds
from policy_engine.template import ResourceKind
from policy_engine.topology.model import ResourceSharingStrategy

NONE = "none"
_REFUSES = "new jobs are refused; those already submitted go on"
_PLACES_NONE = "no new jobs are placed until it is enabled again"
_UNKNOWN_LENT = "AWS does not say whether what it has lent is taken back at once, on demand, or when jobs end"
_UNKNOWN_BORROWED = "AWS does not say whether its jobs on borrowed capacity are stopped at once, on demand, or never"


def effect(change: ResourceChange, of: QueueChange) -> str:
    """What a change does to jobs, in a sentence or several, or `none`."""
    if change.action is Action.UPDATE:
        found = [sentence for setting in change.settings for sentence in _of_setting(change, setting)]
    elif change.ends:
        found = [_of_end(change, of)]
    else:
        found = []
    return "; ".join(dict.fromkeys(found)) or NONE


def _of_end(change: ResourceChange, of: QueueChange) -> str:
    if change.retained:
        return f"the old {change.kind.noun} stays in the account, outside the stack, with its jobs"
    match change.kind:
        case ResourceKind.QUOTA_SHARE:
            return "all its jobs are terminated, running and waiting"
        case ResourceKind.JOB_QUEUE:
            return "all jobs of all its shares are terminated, running and waiting"
        case ResourceKind.SERVICE_ENVIRONMENT if not of.queue_ends:
            return "the queue moves to another environment; AWS does not say what becomes of running jobs"
        case _:
            return NONE


def _of_setting(change: ResourceChange, setting: SettingChange) -> Iterator[str]:
    name, old, new = setting.setting, setting.old, setting.new
    if name == "state" and new == "DISABLED":
        yield _PLACES_NONE if change.kind is ResourceKind.SERVICE_ENVIRONMENT else _REFUSES
    elif name.startswith("capacity ") and setting.lowered:
        if change.kind is ResourceKind.SERVICE_ENVIRONMENT:
            yield "running jobs go on, even above the new capacity; only new dispatches keep to it"
        else:
            yield "jobs above the new limit can be preempted, also in LEND and RESERVE shares; AWS does not say when"
    elif name == "strategy":
        yield from _of_strategy(ResourceSharingStrategy(str(old)), ResourceSharingStrategy(str(new)))
    elif name == "borrow limit" and setting.lowered and change.setting("strategy") is None:
        yield _UNKNOWN_BORROWED
    elif name == "in-share preemption" and new == "ENABLED":
        yield "from now on a job can preempt running jobs of lower priority in its share"
    elif name.startswith("time limit ") and _shorter(setting):
        yield "a job that has blocked the front of its share for longer is terminated"
    elif name == "environment":
        yield "AWS does not say what becomes of running jobs when a queue moves to another environment"
    elif name in {"type", QUOTA_MANAGEMENT}:
        yield "AWS refuses the update, and the deployment is rolled back"


def _of_strategy(old: ResourceSharingStrategy, new: ResourceSharingStrategy) -> Iterator[str]:
    if old.lends and not new.lends:
        yield _UNKNOWN_LENT
    if old.borrows and not new.borrows:
        yield _UNKNOWN_BORROWED
    if new.lends and not old.lends:
        yield "its idle capacity goes to others; its own jobs get it back by preempting theirs"


def _shorter(setting: SettingChange) -> bool:
    if setting.new is None:
        return False
    return setting.old is None or parse_milliseconds(setting.new) < parse_milliseconds(setting.old)
