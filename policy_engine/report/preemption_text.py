"""A preemption's reason in one paragraph."""

from collections.abc import Iterable, Sequence

from policy_engine.amounts import brief_duration, counted, in_hours, moment, printable
from policy_engine.assumptions import VictimOrder
from policy_engine.explanation.preemptions import Candidate, Fate, Owed, PreemptionReason, preemption_reasons
from policy_engine.scheduler import Outcome, PreemptionKind

_NAMED = 3
"""Jobs that are named in a row; the others are counted."""


def preemption_texts(outcome: Outcome, rows: Iterable[int]) -> dict[int, str]:
    """A paragraph for each of these preemptions (rows of `outcome.preemptions`).

    The trace is replayed once more, up to the last of them; a decision takes a few milliseconds.
    """
    return {row: preemption_text(outcome, reason) for row, reason in preemption_reasons(outcome, rows).items()}


def preemption_text(outcome: Outcome, reason: PreemptionReason) -> str:
    """Who was stopped for whom, what that job was owed, who could have been stopped, and what chose this one."""
    victim, claimant = (_of_share(outcome, job) for job in (reason.victim, reason.claimant))
    at = moment(reason.at, outcome.trace.epoch)
    return " ".join([f"{victim} was preempted at {at} for {claimant}.", why_stopped(outcome, reason)])


def why_stopped(outcome: Outcome, reason: PreemptionReason) -> str:
    """The same without the names of the two jobs and the time."""
    return " ".join([*_claim(reason), _choice(outcome, reason), *_others(outcome, reason), _loss(outcome, reason)])


def job_name(outcome: Outcome, job: int) -> str:
    """A job's id as it can be printed."""
    return printable(str(outcome.trace.job_id[job]))


def job_names(outcome: Outcome, jobs: Sequence[int], most: int = _NAMED) -> str:
    """`a, b, c and 4 other jobs`."""
    shown = [job_name(outcome, job) for job in jobs[:most]]
    more = len(jobs) - len(shown)
    if more > 0:
        return f"{', '.join(shown)} and {counted(more, 'other job')}"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def instances(pairs: Iterable[tuple[str, int]]) -> str:
    """`2 ml.g5.xlarge and 1 ml.p5.48xlarge`."""
    return " and ".join(f"{count:,} {printable(unit)}" for unit, count in pairs)


def _of_share(outcome: Outcome, job: int) -> str:
    return f"{job_name(outcome, job)} of {printable(outcome.share_names[int(outcome.share_of_job[job])])}"


def _claim(reason: PreemptionReason) -> Iterable[str]:
    needs = instances((owed.unit, owed.need) for owed in reason.owed)
    if reason.kind is PreemptionKind.IN_SHARE:
        yield (
            f"In-share preemption: that job has a higher priority and needs {needs}, which its share could not take "
            "beside the jobs it had."
        )
        return
    kept = ", ".join(f"{owed.kept:,} of {owed.limit:,} {printable(owed.unit)} kept" for owed in reason.owed)
    short = _short([owed for owed in reason.owed if owed.short])
    yield f"That job needs {needs} within its share's limit ({kept}), so its share was owed them; {short} short."


def _short(owed: Sequence[Owed]) -> str:
    text = ", ".join(
        f"{one.short:,} {printable(one.unit)}"
        + (f" ({one.set_aside:,} set aside for claims before it)" if one.set_aside else "")
        for one in owed
    )
    return f"{text} {'was' if sum(one.short for one in owed) == 1 else 'were'}"


def _choice(outcome: Outcome, reason: PreemptionReason) -> str:
    count = len(reason.candidates)
    mine = reason.candidates[reason.place - 1]
    which = "jobs of lower priority" if reason.kind is PreemptionKind.IN_SHARE else "jobs of shares above their limits"
    who = f"the only one of the {which}" if count == 1 else f"number {reason.place:,} of {count:,} {which}"
    text = (
        f"By the assumption victim_order {reason.victim_order} it was {who} that could be stopped: priority "
        f"{mine.priority}, dispatched {brief_duration(reason.at - mine.dispatched_at)} before."
    )
    before = reason.candidates[: reason.place - 1]
    passed = [one.job for one in before if one.fate is Fate.SHARE_NOT_ABOVE_LIMIT]
    spared = [one.job for one in before if one.fate is Fate.SPARED]
    if passed:
        text += (
            f" {job_names(outcome, passed)} came before it, but the others left that share no longer above its limit."
        )
    if spared:
        text += f" {job_names(outcome, spared)} came before it, but gave nothing that was still short."
    return text


def _others(outcome: Outcome, reason: PreemptionReason) -> Iterable[str]:
    together = [job for job in reason.stopped_together if job != reason.victim]
    if together:
        yield f"Stopped with it: {job_names(outcome, together)}."
    if len(reason.candidates) == 1:
        return
    if not reason.otherwise:
        yield "Every other victim order would have stopped it, too."
        return
    choices: dict[tuple[int, ...], list[VictimOrder]] = {}
    for order, jobs in reason.otherwise.items():
        choices.setdefault(jobs, []).append(order)
    parts = (
        f"{' and '.join(orders)} would have stopped {job_names(outcome, jobs) if jobs else 'nobody'}"
        for jobs, orders in choices.items()
    )
    yield f"Instead of it {'; '.join(parts)}."


def _loss(outcome: Outcome, reason: PreemptionReason) -> str:
    if not reason.lost:
        return "No work was lost."
    hours = in_hours(reason.lost * int(outcome.instances_of_job[reason.victim]))
    return f"It lost {brief_duration(reason.lost)} of work, {hours} instance-hours."


def candidate_text(outcome: Outcome, place: int, candidate: Candidate, at: int) -> str:
    """A line about a candidate: its place, what decides the order, and what became of it."""
    fates = {
        Fate.STOPPED: "stopped",
        Fate.SPARED: "spared: the others were enough",
        Fate.SHARE_NOT_ABOVE_LIMIT: "passed over: its share no longer above its limit",
        Fate.NOT_NEEDED: "not needed",
    }
    return (
        f"{place:,}. {job_name(outcome, candidate.job)}: priority {candidate.priority}, {instances(candidate.gives)}, "
        f"dispatched {brief_duration(at - candidate.dispatched_at)} before; {fates[candidate.fate]}"
    )
