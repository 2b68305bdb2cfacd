"""Why a job waited, in sentences: each stretch in which its reason was one and the same, or what many come to."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from policy_engine.amounts import brief_duration, counted, printable
from policy_engine.durations import format_milliseconds
from policy_engine.explanation.holdings import ShareHolding
from policy_engine.explanation.life import JobLife
from policy_engine.explanation.waits import Stretch, UnitShortage, Wait, WaitEnd, WaitReason
from policy_engine.report.preemption_text import instances, job_name, job_names
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.topology import ResourceSharingStrategy

_STRETCHES_SHOWN = 8
"""Of one wait, one by one; the others are summed up."""
_FRONTS_NAMED = 3
_SHARES_NAMED = 4
_IN_BRIEF = {
    WaitReason.MISCONFIGURED: "could never run",
    WaitReason.LIMIT: "at the limit of its share, which does not borrow",
    WaitReason.BORROW_LIMIT: "at the borrow limit",
    WaitReason.NOTHING_TO_BORROW: "nothing to borrow",
    WaitReason.STOPPING: "preempted jobs were stopping",
    WaitReason.CAPACITY: "capacity was not there",
    WaitReason.SET_ASIDE: "set aside for claims of others",
    WaitReason.NEXT_PASS: "the scheduler had not run",
}
_ENDS = {
    WaitEnd.DISPATCHED: "",
    WaitEnd.FAILED: ", then it FAILED",
    WaitEnd.REPLAY_ENDED: ", to the end of the replay",
}


def wait_heading(wait: Wait) -> str:
    """How long, and who stood before it."""
    text = f"RUNNABLE for {brief_duration(wait.duration)}{_ENDS[wait.ended]}"
    if wait.ahead:
        text += f"; {counted(wait.ahead, 'job')} of its share stood before it"
    if wait.overtaken:
        text += f"{', and' if wait.ahead else ';'} {wait.overtaken:,} more came to stand before it later"
    return f"{text}."


def wait_reasons(life: JobLife, wait: Wait) -> Iterator[str]:
    """A sentence or more for each part of a wait: behind others, then at the front."""
    parts = [list(part) for _, part in groupby(wait.stretches, key=lambda one: one.held != life.job)]
    shown, told = 0, set[str]()
    for number, part in enumerate(parts):
        if shown >= _STRETCHES_SHOWN:
            rest = [stretch for left in parts[number:] for stretch in left]
            yield f"{_total(rest)} more: {_summed(rest)}."
            return
        if part[0].held != life.job:
            shown += 1
            yield _behind(life, part)
            continue
        for stretch in part[: _STRETCHES_SHOWN - shown]:
            why = stretch_text(life, stretch)
            again = f"as before, {_IN_BRIEF[stretch.reason]}." if why in told else why
            told.add(why)
            yield f"{brief_duration(stretch.duration)}{_place(life, stretch)}: {again}"
        rest = part[_STRETCHES_SHOWN - shown :]
        shown += len(part)
        if rest:
            yield f"{_total(rest)} more: {_summed(rest)}."


def _total(stretches: Sequence[Stretch]) -> str:
    return brief_duration(sum(stretch.duration for stretch in stretches))


def _place(life: JobLife, stretch: Stretch) -> str:
    """Only where a job behind another can go, too, is a reason about one that is not at the front."""
    if stretch.front == life.job:
        return " at the front"
    return f" behind {job_name(life.outcome, stretch.front)}, so that it could not claim"


def _behind(life: JobLife, part: Sequence[Stretch]) -> str:
    """What a job spent behind others comes to."""
    by_front: Counter[int] = Counter()
    for stretch in part:
        by_front[stretch.front] += stretch.duration
    longest = by_front.most_common()
    named = ", ".join(f"{job_name(life.outcome, job)} {brief_duration(time)}" for job, time in longest[:_FRONTS_NAMED])
    more = len(longest) - _FRONTS_NAMED
    others = f" and {counted(more, 'other')} less" if more > 0 else ""
    if len(longest) == 1:
        text = f"{_total(part)} behind {job_name(life.outcome, longest[0][0])}"
    else:
        text = f"{_total(part)} behind {counted(len(longest), 'job')}, at the front one after another: {named}{others}"
    if len(part) == 1:
        return f"{text}. That job: {stretch_text(life, part[0])}"
    return f"{text}. What kept {'that job' if len(longest) == 1 else 'them'} back: {_summed(part)}."


def _summed(stretches: Sequence[Stretch]) -> str:
    by_reason: Counter[tuple[WaitReason, tuple[str, ...]]] = Counter()
    for stretch in stretches:
        by_reason[stretch.reason, stretch.units] += stretch.duration
    parts = []
    for (reason, units), time in by_reason.most_common():
        of = f" ({', '.join(map(printable, units))})" if units else ""
        parts.append(f"{_IN_BRIEF[reason]}{of} {brief_duration(time)}")
    return "; ".join(parts)


def stretch_text(life: JobLife, stretch: Stretch) -> str:
    """What kept the job of a stretch back, with the figures at its start."""
    match stretch.reason:
        case WaitReason.MISCONFIGURED:
            return f"it can never run. {STATUS_REASON[stretch.misconfiguration]}"
        case WaitReason.NEXT_PASS:
            interval = format_milliseconds(life.outcome.assumptions.scheduler_interval)
            return f"nothing but that the scheduler had not run yet (scheduler_interval {interval})."
        case WaitReason.SET_ASIDE:
            return _set_aside(life, stretch)
        case WaitReason.STOPPING:
            return _stopping(life, stretch)
    shortages = life.waiting.shortages(stretch)
    tellers = {
        WaitReason.LIMIT: _limit,
        WaitReason.BORROW_LIMIT: _borrow_limit,
        WaitReason.NOTHING_TO_BORROW: _nothing_to_borrow,
        WaitReason.CAPACITY: _capacity,
    }
    share = life.outcome.share_names[int(life.outcome.share_of_job[stretch.held])]
    return " ".join(tellers[stretch.reason](shortage, share) for shortage in shortages)


def _within_limit(short: UnitShortage) -> str:
    return (
        f"it needs {short.need:,} {printable(short.unit)}, and its share's jobs keep {short.kept:,} of a limit of "
        f"{short.limit:,}"
    )


def _limit(short: UnitShortage, share: str) -> str:
    idle = _idle(short, share, lambda _holding: True)
    untouchable = f" Unused by its owners, but not for a share that does not borrow: {idle}." if idle else ""
    return f"{_within_limit(short)}; its share does not borrow.{untouchable}"


def _borrow_limit(short: UnitShortage, share: str) -> str:
    borrowed = max(0, short.kept - short.limit)
    wanted = short.kept + short.need - short.limit
    idle = _idle(short, share, lambda holding: holding.strategy.lends)
    could = f" {max(0, short.lendable):,} could be borrowed but for that" + (f" (idle: {idle})." if idle else ".")
    now = f", {borrowed:,} of them borrowed" if borrowed else ""
    return (
        f"{_within_limit(short)}{now}; it would borrow {wanted:,}, and the borrow limit is {short.borrow_cap:,}.{could}"
    )


def _nothing_to_borrow(short: UnitShortage, share: str) -> str:
    borrowed = max(0, short.kept - short.limit)
    extra = short.kept + short.need - short.limit - borrowed
    text = f"{_within_limit(short)}; it would have to borrow {extra:,} more, and {max(0, short.lendable):,} can be."
    lending = _idle(short, share, lambda holding: holding.strategy.lends)
    out = sum(holding.borrowed for holding in short.shares)
    if lending:
        borrowers = ", ".join(
            f"{printable(holding.share)} {holding.borrowed:,}" for holding in short.shares if holding.borrowed
        )
        text += (
            f" Idle of shares that lend: {lending}; of that {out:,} lent out (to {borrowers})."
            if out
            else (f" Idle of shares that lend: {lending}.")
        )
    else:
        text += " No other share that lends has any idle."
    kept = _idle(short, share, lambda holding: holding.strategy is ResourceSharingStrategy.RESERVE)
    return f"{text} Idle that RESERVE protects: {kept}." if kept else text


def _capacity(short: UnitShortage, share: str) -> str:
    kept = _idle(short, share, lambda holding: holding.strategy is ResourceSharingStrategy.RESERVE)
    held = sum(holding.used for holding in short.shares)
    text = (
        f"its share may have the {short.need:,} {printable(short.unit)} that it needs, but {max(0, short.later):,} are "
        f"there for it: jobs hold {held:,} of {short.capacity:,}"
    )
    limits = sum(holding.limit for holding in short.shares)
    if limits > short.capacity:
        text += f", and the limits add up to {limits:,}"
    return f"{text}.{f' Idle that RESERVE protects: {kept}.' if kept else ''}"


def _stopping(life: JobLife, stretch: Stretch) -> str:
    outcome = life.outcome
    rows = life.waiting.stopping_at(stretch.start, stretch.units)
    victims = [int(outcome.preemptions.victim[row]) for row in rows]
    claimants = sorted({int(outcome.preemptions.claimant[row]) for row in rows})
    needs = instances((short.unit, short.need) for short in life.waiting.shortages(stretch))
    for_itself = claimants == [stretch.held]
    sake = "" if not claimants else " for it" if for_itself else f" for {job_names(outcome, claimants)}"
    who = f"preempted jobs that were stopping{sake}: {job_names(outcome, victims)}" if victims else "stopping jobs"
    return f"what it needs ({needs}) was still held by {who}."


def _set_aside(life: JobLife, stretch: Stretch) -> str:
    outcome = life.outcome
    rows = life.waiting.stopping_at(stretch.start, outcome.trace.units)
    claimants = sorted({int(outcome.preemptions.claimant[row]) for row in rows} - {stretch.held})
    whom = f" ({job_names(outcome, claimants)})" if claimants else ""
    return f"what it needs was free, but kept back for a claim that waited for jobs to stop{whom}."


def _idle(short: UnitShortage, share: str, counts: Callable[[ShareHolding], bool]) -> str:
    """`a 3, b 1 and 2 other shares 4`: what other shares have idle."""
    idle = [(one.share, one.idle) for one in short.shares if one.share != share and one.idle and counts(one)]
    idle.sort(key=lambda pair: -pair[1])
    text = ", ".join(f"{printable(name)} {count:,}" for name, count in idle[:_SHARES_NAMED])
    rest = idle[_SHARES_NAMED:]
    if rest:
        text += f" and {counted(len(rest), 'other share')} {sum(count for _, count in rest):,}"
    return text
