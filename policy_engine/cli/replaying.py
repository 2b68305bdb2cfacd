"""From the arguments of a command to a replay: the topology's findings, the trace, the events, where it stops."""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from policy_engine.amounts import counted
from policy_engine.assumptions import Assumptions
from policy_engine.cli.failures import note
from policy_engine.cli.interruption import ending_at_once
from policy_engine.cli.progress import progress
from policy_engine.cli.subjects import Subject
from policy_engine.diagnostics import Finding, Severity
from policy_engine.durations import parse_milliseconds
from policy_engine.topology import Topology

if TYPE_CHECKING:
    from policy_engine.forecast import Variant
    from policy_engine.scheduler import Outcome
    from policy_engine.trace import ControlEvent, JobTrace

FOUND = 1
"""Exit status of a command that found something."""
_BEFORE_THE_START = -1
"""ms: a replay until then compiles, and does nothing."""


def refuse_errors(subject: Subject, path: str, report: Callable[[Sequence[Finding]], None] | None = None) -> None:
    """End with status 1 if a rule finds an error. Warnings are for `validate` to print; say that there are some.

    `report` is called with the errors before that. It may raise OSErrors.
    """
    findings = subject.findings()
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    for finding in errors:
        note(finding)
    if errors:
        if report is not None:
            report(errors)
        click.echo(f"not replayed: {counted(len(errors), 'error')} in {path}", err=True)
        sys.exit(FOUND)
    warnings = sum(finding.severity is Severity.WARNING for finding in findings)
    if warnings:
        click.echo(f"{counted(warnings, 'warning')} about {path}; `batch-quota validate {path}` tells more", err=True)


def read_jobs(
    topology: Topology, trace: str, trace_format: str | None, events: str | None, starts_at: str | None
) -> "tuple[JobTrace, tuple[ControlEvent, ...]]":
    """The trace, and the control events: those of training plans, then those given. All that is wrong with either."""
    jobs, given = read_given(topology, trace, trace_format, events, starts_at)
    tell_of_undated_plans(jobs, [topology])
    return jobs, with_training_plans(topology, jobs, given)


def with_training_plans(
    topology: Topology, jobs: "JobTrace", events: "Sequence[ControlEvent]"
) -> "tuple[ControlEvent, ...]":
    """The control events after those of the topology's training plans."""
    from policy_engine.trace import training_plan_events

    return (*training_plan_events(topology, jobs.epoch), *events)


def read_given(
    topology: Topology, trace: str, trace_format: str | None, events: str | None, starts_at: str | None
) -> "tuple[JobTrace, tuple[ControlEvent, ...]]":
    """The trace and the control events of the command line."""
    from policy_engine.trace import FileFormat, read_events, read_trace

    shares = [owned.name for owned in topology.quota_shares()]
    jobs = read_trace(trace, format=FileFormat(trace_format) if trace_format else None, shares=shares, note=note)
    if starts_at is not None:
        jobs = _dated(jobs, starts_at)
    return jobs, () if events is None else read_events(events, trace=jobs, topology=topology)


def tell_of_undated_plans(jobs: "JobTrace", topologies: Iterable[Topology]) -> None:
    """Say what is made of training plans if nobody knows when the trace starts."""
    from policy_engine.trace import has_training_plans

    if jobs.epoch is None and any(has_training_plans(topology) for topology in topologies):
        click.echo(
            "training plans are taken to last all the time: --starts-at DATE says when the trace starts", err=True
        )


def _dated(jobs: "JobTrace", starts_at: str) -> "JobTrace":
    """The trace with the date of its start."""
    import polars as pl

    from policy_engine.trace.times import dates_to_milliseconds

    if jobs.epoch is not None:
        raise click.BadParameter("the trace has dates of its own", param_hint="--starts-at")
    epoch = dates_to_milliseconds(pl.Series([starts_at])).item()
    if epoch is None:
        raise click.BadParameter("expected a date such as 2026-03-02T11:30:00Z", param_hint="--starts-at")
    return replace(jobs, epoch=int(epoch))


def moment_of(text: str, epoch: int | None) -> int:
    """The time of `--until` in ms since the trace's start."""
    import polars as pl

    from policy_engine.trace.times import dates_to_milliseconds, like_dates

    date = pl.Series([text])
    if like_dates(date).item():
        at = dates_to_milliseconds(date).item()
        if epoch is None:
            raise click.BadParameter("a date needs a trace with dates; this one has seconds", param_hint="--until")
        if at is None or at < epoch:
            raise click.BadParameter("expected a date that is not before the trace's start", param_hint="--until")
        return int(at) - epoch
    try:
        return parse_milliseconds(float(text) if text.isdecimal() else text)
    except ValueError as error:
        raise click.BadParameter(f"{error}", param_hint="--until") from error


def replayed(
    topology: Topology,
    jobs: "JobTrace",
    events: "Sequence[ControlEvent]",
    assumptions: Assumptions,
    until: int | None,
) -> "Outcome":
    """Replay, with a progress bar for what takes long."""
    from policy_engine.scheduler import replay

    _compile(topology, jobs)
    with progress("replaying", len(jobs), "jobs", "submitted, running to their end") as done:
        return replay(topology, jobs, events=events, assumptions=assumptions, until=until, on_progress=done)


def replayed_variant(
    variant: "Variant", jobs: "JobTrace", events: "Sequence[ControlEvent]", until: int | None
) -> "Outcome":
    """Replay what of a trace fits a variant, with a progress bar."""
    from policy_engine.forecast import replay_variant

    _compile(variant.topology, jobs)
    with progress(f"replaying {variant.label}", len(jobs), "jobs", "submitted, running to their end") as done:
        return replay_variant(variant, jobs, events=events, until=until, on_progress=done)


def _compile(topology: Topology, jobs: "JobTrace") -> None:
    """Compile the replay if that is still to be done on this machine, and say so: it takes a while."""
    from policy_engine.scheduler import replay
    from policy_engine.scheduler.replay import compilation_pending

    directory = compilation_pending(len(jobs))
    if directory is None:
        return
    from policy_engine.scheduler.machine_code import writable

    kept = f"kept in {directory}" if writable(directory) else f"every time, since {directory} cannot be written to"
    click.echo(f"compiling the replay for this machine, which takes a minute or so; {kept}", err=True)
    with ending_at_once():
        replay(topology, jobs, until=_BEFORE_THE_START)
