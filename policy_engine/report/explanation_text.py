"""A job's life for people, within 80 columns."""

from collections.abc import Iterator

from click import style

from policy_engine.amounts import brief_duration, counted, in_hours, moment, printable
from policy_engine.durations import format_milliseconds
from policy_engine.explanation.life import Held, JobLife, Run
from policy_engine.explanation.prevention import Preventions
from policy_engine.explanation.waits import Wait, needs_of
from policy_engine.report.assumptions_text import departures
from policy_engine.report.preemption_text import candidate_text, instances, job_name, why_stopped
from policy_engine.report.prevention_text import prevention_texts
from policy_engine.report.wait_text import wait_heading, wait_reasons
from policy_engine.report.wrapping import wrapped
from policy_engine.scheduler import AttemptOutcome, JobStatus
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.trace import NONE, ON_STOP

_WIDTH = 80
_FIRST_STEPS, _LAST_STEPS = 24, 8
"""Of a life with more steps than both these are shown."""
_CANDIDATES_SHOWN = 5
_ENDED = {
    AttemptOutcome.SUCCEEDED: "SUCCEEDED",
    AttemptOutcome.FAILED: "FAILED by itself, as the trace says",
    AttemptOutcome.TERMINATED: "terminated by a control event",
    AttemptOutcome.TIMED_OUT: "FAILED: its attempt ran as long as its timeout allows",
    AttemptOutcome.NO_CAPACITY: "back to RUNNABLE: SageMaker had no capacity for it",
}


def explanation_text(life: JobLife, preventions: Preventions | None, *, color: bool) -> str:
    """The whole explanation. Without `preventions` nothing is said of what would have prevented anything."""
    lines = [*_heading(life, color=color), "", *_steps(life, color=color)]
    if preventions is not None:
        lines += ["", _bold("What would have prevented it", color=color) + f" ({_replays(preventions)})"]
        for indent, text in prevention_texts(life, preventions):
            lines += _paragraph(text, 2 + 2 * indent)
    return "\n".join(lines)


def _replays(preventions: Preventions) -> str:
    return f"{counted(preventions.replays, 'replay')}, one change each"


def _heading(life: JobLife, *, color: bool) -> Iterator[str]:
    outcome, job = life.outcome, life.job
    trace, jobs = outcome.trace, outcome.jobs
    yield from _paragraph(f"{life.name} of {life.share}", 0, bold=color)
    checkpoint = int(trace.checkpoint[job])
    kept = {NONE: "no checkpoint", ON_STOP: "a checkpoint when stopped"}
    about = [
        f"{instances(needs_of(outcome, job))} for {brief_duration(int(trace.runtime[job]))}",
        f"priority {int(trace.priority[job])}",
        kept.get(checkpoint, f"a checkpoint every {format_milliseconds(checkpoint)}"),
    ]
    retries = int(trace.preemption_retries[job])
    about += [] if retries == NONE else [counted(retries, "preemption retry").replace("retrys", "retries")]
    yield from _paragraph(f"{', '.join(about)}.", 0)
    waited = sum(wait.duration for wait in life.waits)
    lost = int(jobs.lost[job])
    parts = [
        f"waited {brief_duration(waited)} in all" if waited else "never waited",
        f"preempted {_times(int(jobs.preemptions[job]))}" if jobs.preemptions[job] else "never preempted",
        f"lost {brief_duration(lost)} of work ({in_hours(lost * int(outcome.instances_of_job[job]))} instance-hours)"
        if lost
        else "lost no work",
    ]
    yield from _paragraph(f"{_status(life)}: {', '.join(parts)}.", 0)
    changed = departures(outcome.assumptions)
    under = ", ".join(f"{name} {value}" for name, value in changed.items()) if changed else "all defaults"
    yield from _paragraph(f"A prediction under assumptions on what AWS does not publish: {under}.", 0)


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def _status(life: JobLife) -> str:
    if life.status is JobStatus.SUBMITTED:
        return "Not submitted yet when the replay was stopped"
    finished = int(life.outcome.jobs.finished_at[life.job])
    if life.status in {JobStatus.SUCCEEDED, JobStatus.FAILED}:
        since = brief_duration(finished - int(life.outcome.trace.submitted_at[life.job]))
        return f"{life.status.name} {since} after its submission"
    return f"{life.status.name} at the end of the replay"


def _steps(life: JobLife, *, color: bool) -> Iterator[str]:
    """Each step with its time in front."""
    outcome = life.outcome
    at = int(outcome.trace.submitted_at[life.job])
    margin = 2 + max(len(moment(time, outcome.trace.epoch)) for time in (at, outcome.ended_at))
    if life.status is not JobStatus.SUBMITTED:
        yield from _entry(life, at, "SUBMITTED", margin, color=color)
    left_out = life.steps[_FIRST_STEPS : len(life.steps) - _LAST_STEPS]
    shown = life.steps if not left_out else life.steps[:_FIRST_STEPS]
    for step in shown:
        yield from _step(life, step, margin, color=color)
    if left_out:
        yield from _paragraph(_left_out(life, left_out), margin)
        for step in life.steps[-_LAST_STEPS:]:
            yield from _step(life, step, margin, color=color)
    finished = int(outcome.jobs.finished_at[life.job])
    if life.status is JobStatus.FAILED:
        yield from _entry(life, finished, f"FAILED. {STATUS_REASON[life.reason]}", margin, color=color)


def _left_out(life: JobLife, steps: tuple[Wait | Run, ...]) -> str:
    runs = [step for step in steps if isinstance(step, Run)]
    waited = brief_duration(sum(step.duration for step in steps if isinstance(step, Wait)))
    stopped = sum(run.told_to_stop_at is not None for run in runs)
    lost = brief_duration(sum(run.lost for run in runs))
    return (
        f"… {counted(len(runs), 'more attempt')} left out here (--format json has all): preempted {_times(stopped)}, "
        f"waited {waited}, lost {lost} of work."
    )


def _step(life: JobLife, step: Wait | Run, margin: int, *, color: bool) -> Iterator[str]:
    if isinstance(step, Wait):
        yield from _entry(life, step.start, wait_heading(step), margin, color=color)
        for text in wait_reasons(life, step):
            yield from _paragraph(text, margin, bullet=True)
        return
    yield from _entry(life, step.scheduled_at, _dispatch(step), margin, color=color)
    if step.running_at is not None and step.running_at != step.scheduled_at:
        yield from _entry(life, step.running_at, "RUNNING", margin, color=color)
    if step.told_to_stop_at is not None:
        yield from _preemption(life, step, margin, color=color)
    if step.stopped_at is not None and step.ended in _ENDED:
        yield from _entry(life, step.stopped_at, _ENDED[step.ended], margin, color=color)
    elif step.stopped_at is not None and step.stopped_at != step.told_to_stop_at:
        yield from _entry(life, step.stopped_at, "stopped, and its capacity released", margin, color=color)


def _dispatch(run: Run) -> str:
    if run.held is None:
        return "DISPATCHED"
    if not run.borrowed:
        return f"DISPATCHED on {instances((held.unit, held.count) for held in run.held)} within its share's limit"
    return "DISPATCHED on " + " and ".join(map(_holding, run.held))


def _holding(held: Held) -> str:
    what = f"{held.count:,} {printable(held.unit)}"
    if not held.borrowed:
        return f"{what} within its share's limit"
    idle = ", ".join(f"{printable(share)} {count:,}" for share, count in held.lendable[:4])
    more = f" and {counted(len(held.lendable) - 4, 'other share')}" if len(held.lendable) > 4 else ""
    pool = f" from what lenders left idle ({idle}{more})" if held.lendable else ""
    part = "borrowed" if held.borrowed == held.count else f"{held.borrowed:,} of them borrowed"
    return f"{what}, {part}{pool}"


def _preemption(life: JobLife, run: Run, margin: int, *, color: bool) -> Iterator[str]:
    outcome, reason = life.outcome, run.preemption
    if run.told_to_stop_at is None:
        return
    if reason is None:
        yield from _entry(life, run.told_to_stop_at, "PREEMPTED", margin, color=color)
        return
    share = outcome.share_names[int(outcome.share_of_job[reason.claimant])]
    heading = f"PREEMPTED for {job_name(outcome, reason.claimant)} of {share}"
    yield from _entry(life, reason.at, heading, margin, color=color)
    yield from _paragraph(why_stopped(outcome, reason), margin)
    if len(reason.candidates) > 1:
        for place, candidate in enumerate(reason.candidates[:_CANDIDATES_SHOWN], 1):
            yield from _paragraph(candidate_text(outcome, place, candidate, reason.at), margin, bullet=True)
        if len(reason.candidates) > _CANDIDATES_SHOWN:
            yield from _paragraph(f"and {len(reason.candidates) - _CANDIDATES_SHOWN:,} more", margin, bullet=True)


def _entry(life: JobLife, at: int, text: str, margin: int, *, color: bool) -> Iterator[str]:
    """A paragraph with a time in the margin."""
    time = moment(at, life.outcome.trace.epoch)
    lines = _paragraph(text, margin)
    lines[0] = f"{_bold(time, color=color)}{lines[0][len(time) :]}"
    yield from lines


def _paragraph(text: str, indent: int, *, bullet: bool = False, bold: bool = False) -> list[str]:
    head = " " * indent + ("- " if bullet else "")
    body = " " * (indent + (2 if bullet else 0))
    lines = wrapped(printable(text), _WIDTH, initial_indent=head, subsequent_indent=body, break_on_hyphens=False)
    return [_bold(line, color=bold) for line in lines]


def _bold(text: str, *, color: bool) -> str:
    return style(text, bold=True) if color else text
