"""A livelock in words: what goes round, why, and what would end it."""

from policy_engine.amounts import brief_duration, counted, in_hours, printable
from policy_engine.scheduler import JobStatus, Outcome
from policy_engine.scheduler.livelock import Cause, Livelock

_CLAIMANTS_SHOWN = 3
_ENDED = {
    JobStatus.SUCCEEDED: "It got through in the end.",
    JobStatus.FAILED: "In the end it FAILED.",
    JobStatus.RUNNABLE: "It is still RUNNABLE at the end.",
    JobStatus.RUNNING: "It is running again at the end.",
}


def cycle(livelock: Livelock, outcome: Outcome) -> str:
    """What happens over and over, in one paragraph."""
    shown = ", ".join(f"{share} ({count:,})" for share, count in livelock.claimants[:_CLAIMANTS_SHOWN])
    more = len(livelock.claimants) - _CLAIMANTS_SHOWN
    others = f" and {counted(more, 'other share')}" if more > 0 else ""
    return printable(
        f"{outcome.trace.job_id[livelock.job]} of {outcome.share_names[livelock.share]}: stopped {livelock.stops:,} "
        f"times in a row without progress, every {brief_duration(livelock.period)} on average, for {shown}{others}; "
        f"{in_hours(livelock.lost)} instance-hours lost. {_ENDED.get(livelock.status, '')}"
    )


def why(livelock: Livelock, outcome: Outcome) -> str:
    """What keeps the job from getting anywhere."""
    return printable("; ".join(_cause(cause, livelock, outcome) for cause in livelock.causes))


def remedies(livelock: Livelock, outcome: Outcome) -> str:
    """What would end it."""
    share = outcome.share_names[livelock.share]
    ways = []
    if Cause.NEEDS_MORE_THAN_ITS_LIMIT in livelock.causes:
        limits = " and ".join(f"{need:,} {unit}" for unit, need, _ in livelock.above_limit)
        ways.append(f"a limit of {limits} for {share}")
    if Cause.SHARE_BORROWS in livelock.causes:
        ways.append(f"a higher limit or a lower borrow limit for {share}")
    if Cause.OUTRANKED in livelock.causes:
        ways.append("a higher priority")
    if {Cause.NO_CHECKPOINT, Cause.CHECKPOINT_TOO_SELDOM} & set(livelock.causes):
        ways.append(f"a checkpoint well within {brief_duration(livelock.worked)} of work")
    if Cause.UNLIMITED_RETRIES in livelock.causes:
        ways.append("preemption retries, after which it fails instead")
    return printable(", or ".join(ways))


def _cause(cause: Cause, livelock: Livelock, outcome: Outcome) -> str:
    worked = brief_duration(livelock.worked)
    match cause:
        case Cause.NEEDS_MORE_THAN_ITS_LIMIT:
            needs = ", ".join(f"{need:,} {unit} (limit {limit:,})" for unit, need, limit in livelock.above_limit)
            text = f"it needs more than its share's own limit, {needs}, so it runs only on borrowed capacity"
        case Cause.SHARE_BORROWS:
            text = "its share was above its limit, and what is borrowed is taken back"
        case Cause.OUTRANKED:
            text = "jobs of its own share with higher priority displace it"
        case Cause.NO_CHECKPOINT:
            text = f"nothing survives a stop: {worked} of work is lost each time"
        case Cause.CHECKPOINT_TOO_SELDOM:
            interval = brief_duration(int(outcome.trace.checkpoint[livelock.job]))
            text = f"it is stopped after {worked} of work, and checkpoints every {interval}"
        case Cause.NEVER_GOT_TO_WORK:
            text = "it is stopped before it does any work, while it starts or reads its checkpoint back"
        case Cause.UNLIMITED_RETRIES:
            text = "its preemption retries are unlimited, as is AWS's default"
    return text
