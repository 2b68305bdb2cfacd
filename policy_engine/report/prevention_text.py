"""What would have prevented a job's preemptions, lost work and longest wait, for people."""

from collections.abc import Iterator

from policy_engine.amounts import brief_duration, counted, in_hours, moment, printable
from policy_engine.durations import format_milliseconds
from policy_engine.explanation.life import JobLife
from policy_engine.explanation.prevention import (
    MUCH_LESS,
    Aim,
    Change,
    Effect,
    Kind,
    Prevention,
    Preventions,
    Trial,
    over_committed_by,
)
from policy_engine.trace import NONE, ON_STOP

_TRIED = {
    Kind.PRIORITY: "a higher priority",
    Kind.CHECKPOINT: "checkpoints",
    Kind.BORROW_LIMIT: "a higher borrow limit",
    Kind.LIMIT: "a higher limit",
    Kind.IN_SHARE_PREEMPTION: "in-share preemption",
    Kind.STRATEGY: "another strategy",
}


def prevention_texts(life: JobLife, preventions: Preventions) -> Iterator[tuple[int, str]]:
    """Paragraphs, each with how far it is indented."""
    told: set[Change] = set()
    for prevention in preventions.by_aim:
        yield 0, f"{_aim(prevention.aim, preventions.base)}: {_answer(life, prevention)}"
        for number, trial in enumerate(prevention.found):
            change = change_text(trial.change)
            if trial.change not in told:
                what = "With it" if number == 0 else f"Also works: {change}"
                yield 1, f"{what}: {_trial(life, preventions.base, trial)}"
            elif number:
                yield 1, f"Also works, as above: {change}."
            told.add(trial.change)
    if not preventions.by_aim:
        yield 0, "There was nothing to prevent: no preemption, and no wait of a minute."


def change_text(change: Change) -> str:
    """`a limit of 6 ml.g5.xlarge instead of 4 for research`."""
    share = f" for {printable(change.share)}" if change.share else ""
    match change.kind:
        case Kind.PRIORITY:
            return f"priority {change.after} instead of {change.before}"
        case Kind.CHECKPOINT:
            return f"{_checkpoint(change.after)} instead of {_checkpoint(change.before)}"
        case Kind.BORROW_LIMIT:
            after = "an unlimited borrow limit" if change.after == NONE else f"a borrow limit of {change.after}%"
            return f"{after} instead of {change.before}%{share}"
        case Kind.LIMIT:
            return f"a limit of {change.after} {printable(str(change.unit))} instead of {change.before}{share}"
        case Kind.IN_SHARE_PREEMPTION:
            return f"in-share preemption {'on' if change.after else 'off'}{share}"
        case Kind.STRATEGY:
            return f"strategy {change.after} instead of {change.before}{share}"


def _checkpoint(value: object) -> str:
    if value == NONE:
        return "none"
    return (
        "a checkpoint when stopped"
        if value == ON_STOP
        else f"a checkpoint every {format_milliseconds(int(str(value)))}"
    )


def _aim(aim: Aim, base: Effect) -> str:
    match aim:
        case Aim.PREEMPTION:
            return "The preemption" if base.preemptions == 1 else f"The {base.preemptions:,} preemptions"
        case Aim.LOSS:
            return f"The {brief_duration(base.lost)} of lost work"
        case Aim.WAIT:
            wait = f"longest wait of {brief_duration(base.longest_wait)}"
            return f"The {wait}" if base.dispatched else f"That it never ran, and its {wait}"


def _answer(life: JobLife, prevention: Prevention) -> str:
    bound = "" if prevention.complete else " The bound on replays was reached: there may be more (--replays)."
    if prevention.found:
        return f"{change_text(prevention.found[0].change)} is the smallest single change that works.{bound}"
    kinds = dict.fromkeys(_TRIED[trial.change.kind] for trial in prevention.trials)
    tried = f", of {', '.join(kinds)}" if kinds else ""
    shortfall = _nearest(prevention)
    changes = counted(len(prevention.trials), "change")
    return f"no single change was found that works ({changes} replayed{tried}).{shortfall}{bound}"


def _nearest(prevention: Prevention) -> str:
    """For a wait, what came nearest."""
    if prevention.aim is not Aim.WAIT or not prevention.trials:
        return f" One works if at most a {_part()} is left." if prevention.aim is Aim.LOSS else ""
    best = min(prevention.trials, key=lambda trial: trial.effect.longest_wait)
    left = brief_duration(best.effect.longest_wait)
    return f" One works if at most a {_part()} of the wait is left; {change_text(best.change)} leaves {left}."


def _part() -> str:
    return {10: "tenth"}[MUCH_LESS]


def _trial(life: JobLife, base: Effect, trial: Trial) -> str:
    effect = trial.effect
    text = f"{counted(effect.preemptions, 'preemption')}, "
    text += f"{brief_duration(effect.lost)} of work lost, longest wait {brief_duration(effect.longest_wait)}"
    if effect.ended_at is not None:
        text += f", ends at {moment(effect.ended_at, life.outcome.trace.epoch)}"
        if base.ended_at is not None and base.ended_at != effect.ended_at:
            earlier = base.ended_at - effect.ended_at
            text += f" ({brief_duration(abs(earlier))} {'earlier' if earlier > 0 else 'later'})"
    over = over_committed_by(life.outcome.topology, trial.change)
    if over:
        text += f". The limits then exceed the environment's capacity by {over:,}"
    return f"{text}. The queue: {_queue(base, effect)}."


def _queue(base: Effect, effect: Effect) -> str:
    preemptions = effect.queue_preemptions - base.queue_preemptions
    lost = effect.queue_lost - base.queue_lost
    waits = effect.queue_wait - base.queue_wait
    longer = "longer" if waits > 0 else "less"
    parts = [
        f"{counted(abs(preemptions), 'preemption')} {_more(preemptions)}" if preemptions else "as many preemptions",
        f"{in_hours(abs(lost))} instance-hours {_more(lost)} lost" if lost else "as much work lost",
        f"all jobs together wait {brief_duration(abs(waits))} {longer} for a first dispatch"
        if waits
        else "jobs wait as long for a first dispatch",
    ]
    return ", ".join(parts)


def _more(number: int) -> str:
    return "more" if number > 0 else "fewer"
