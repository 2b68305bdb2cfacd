"""`batch-quota replay`: replay a trace on a topology, and say what is predicted."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO

import click

from policy_engine.amounts import counted
from policy_engine.assumptions import Assumptions
from policy_engine.cli import trace_output
from policy_engine.cli.assume import assume_option, with_assumed
from policy_engine.cli.failures import note, unusable_input
from policy_engine.cli.interruption import ending_at_once
from policy_engine.cli.output_format import text_or_json
from policy_engine.cli.progress import progress
from policy_engine.cli.subjects import Subject, parameter_option, queue_option, read_subject
from policy_engine.diagnostics import Severity
from policy_engine.durations import parse_milliseconds
from policy_engine.files import writing
from policy_engine.report.diagnostics import wants_color
from policy_engine.topology import Topology

if TYPE_CHECKING:
    from policy_engine.assessment.assessing import Assessment
    from policy_engine.scheduler import Outcome
    from policy_engine.trace import ControlEvent, JobTrace

_STDIO = "-"
_FOUND = 1
_BEFORE_THE_START = -1
"""ms: a replay until then compiles, and does nothing."""

_HELP = """\
Replay the jobs of TRACE on the queue of TOPOLOGY, and predict who waits, who is preempted and what is lost.

TOPOLOGY can be a CloudFormation template, too. TRACE is a native trace: CSV, JSON Lines or Parquet, - for standard
input. `batch-quota trace convert` makes one of other traces. Waits are from submission to the first dispatch, of the
jobs that were dispatched.

Exit status: 0; 1 if an expectation of the topology is broken, or a rule finds an error in it (then nothing is
replayed); 2 if an input cannot be used.

\b
Examples:
  batch-quota replay examples/ml-training.yaml \\
      examples/traces/ml-training.csv
  batch-quota replay examples/ml-training.yaml \\
      examples/traces/ml-training.csv --until 1d --preemptions 0 \\
      --assume head_of_line=per_unit --assume stop_seconds=30s
  batch-quota replay examples/ml-training.yaml \\
      examples/traces/ml-training.csv --format json -o outcome.json
"""


@click.command("replay", no_args_is_help=True, help=_HELP)
@click.argument("topology", type=click.Path(allow_dash=True))
@click.argument("trace", type=click.Path(allow_dash=True))
@click.option("--events", type=click.Path(allow_dash=True), help="Control events: CSV or JSON Lines.")
@assume_option
@parameter_option
@queue_option
@click.option(
    "--until", metavar="TIME", help="Stop there: 12h or 2d6h from the trace's start; a date if the trace has dates."
)
@click.option(
    "--starts-at", metavar="DATE", help="When the trace starts, if it has no dates: for training plans and --until."
)
@text_or_json(
    "A table for people, or the outcome for programs; `batch-quota schema outcome` describes it.", for_people="table"
)
@click.option("--usage", is_flag=True, help="With --format json: who used what over time, step by step.")
@click.option(
    "--preemptions",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="With --format table: list the first N preemptions.",
)
@click.option(
    "output", "-o", "--output", type=click.Path(allow_dash=True), help="File to write; standard output if left out."
)
@click.option("--force", is_flag=True, help="Overwrite the output.")
@click.option(
    "trace_format",
    "--trace-format",
    type=click.Choice(trace_output.FORMATS),
    help="Format of TRACE, if neither its name nor its first bytes show it.",
)
def command(
    *,
    topology: str,
    trace: str,
    events: str | None,
    assumed: tuple[str, ...],
    parameters: Mapping[str, str],
    queue_name: str | None,
    until: str | None,
    starts_at: str | None,
    output_format: str,
    usage: bool,
    preemptions: int,
    output: str | None,
    force: bool,
    trace_format: str | None,
) -> None:
    """Replay."""
    if [topology, trace, events].count(_STDIO) > 1:
        raise click.UsageError("only one of TOPOLOGY, TRACE and --events can be standard input")
    if usage and output_format != "json":
        raise click.UsageError("--usage means nothing without --format json")
    with unusable_input():
        _refuse_output(output, force=force)
        subject = read_subject(topology, parameters, queue_name, note)
        _refuse_errors(subject, topology)
        assumptions = with_assumed(subject.topology.assumptions, assumed, subject.topology.units())
        jobs, control = _read(subject.topology, trace, trace_format, events, starts_at)
        last = None if until is None else _moment(until, jobs.epoch)
        outcome = _replay(subject.topology, jobs, control, assumptions, last)
        assessment = _assess(outcome)
        with _opened(output, force=force) as file:
            if output_format == "json":
                _write_json(assessment, file, usage=usage)
            else:
                _write_table(assessment, file, preemptions)
    for sentence in _left_running(outcome):
        click.echo(sentence, err=True)
    if output not in {None, _STDIO}:
        click.echo(f"{counted(len(jobs), 'job')} replayed, written to {output}", err=True)
    if assessment.broken:
        sys.exit(_FOUND)


class _OnlyTryingError(Exception):
    """Leaves a file unwritten."""


def _refuse_output(output: str | None, *, force: bool) -> None:
    """Find out before the replay, not after it, that the output cannot be written. Raises OSError."""
    with suppress(_OnlyTryingError), _opened(output, force=force):
        raise _OnlyTryingError


@contextmanager
def _opened(output: str | None, *, force: bool) -> Iterator[BinaryIO | None]:
    """The file to write, which appears whole or not at all, or None for standard output."""
    if output is None or output == _STDIO:
        yield None
        return
    with writing(Path(output), overwrite=force) as file:
        yield file


def _refuse_errors(subject: Subject, path: str) -> None:
    """End with status 1 if a rule finds an error. Warnings are for `validate` to print; say that there are some."""
    findings = subject.findings()
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    for finding in errors:
        note(finding)
    if errors:
        click.echo(f"not replayed: {counted(len(errors), 'error')} in {path}", err=True)
        sys.exit(_FOUND)
    warnings = sum(finding.severity is Severity.WARNING for finding in findings)
    if warnings:
        click.echo(f"{counted(warnings, 'warning')} about {path}; `batch-quota validate {path}` tells more", err=True)


def _read(
    topology: Topology, trace: str, trace_format: str | None, events: str | None, starts_at: str | None
) -> "tuple[JobTrace, tuple[ControlEvent, ...]]":
    """The trace, and the control events: those of training plans, then those given. All that is wrong with either."""
    from policy_engine.trace import FileFormat, has_training_plans, read_events, read_trace, training_plan_events

    shares = [owned.name for owned in topology.quota_shares()]
    jobs = read_trace(trace, format=FileFormat(trace_format) if trace_format else None, shares=shares, note=note)
    if starts_at is not None:
        jobs = _dated(jobs, starts_at)
    if jobs.epoch is None and has_training_plans(topology):
        click.echo(
            "training plans are taken to last all the time: --starts-at DATE says when the trace starts", err=True
        )
    given = () if events is None else read_events(events, trace=jobs, topology=topology)
    return jobs, (*training_plan_events(topology, jobs.epoch), *given)


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


def _moment(text: str, epoch: int | None) -> int:
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


def _replay(
    topology: Topology,
    jobs: "JobTrace",
    events: "Sequence[ControlEvent]",
    assumptions: Assumptions,
    until: int | None,
) -> "Outcome":
    from policy_engine.scheduler import replay

    _compile(topology, jobs)
    with progress("replaying", len(jobs), "jobs", "submitted, running to their end") as done:
        return replay(topology, jobs, events=events, assumptions=assumptions, until=until, on_progress=done)


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


def _left_running(outcome: "Outcome") -> Iterator[str]:
    from policy_engine.report.training_plans import left_running

    return left_running(outcome)


def _assess(outcome: "Outcome") -> "Assessment":
    from policy_engine.assessment.assessing import assess

    return assess(outcome)


def _write_json(assessment: "Assessment", file: BinaryIO | None, *, usage: bool) -> None:
    from policy_engine.report.outcome_json import outcome_json

    stream = sys.stdout.buffer if file is None else file
    for piece in outcome_json(assessment, usage=usage):
        stream.write(piece.encode())
    stream.flush()


def _write_table(assessment: "Assessment", file: BinaryIO | None, preemptions: int) -> None:
    from policy_engine.report.replay_text import replay_text

    color = file is None and wants_color(sys.stdout)
    text = replay_text(assessment, preemptions=preemptions, color=color)
    if file is None:
        click.echo(_printable_on(sys.stdout, text), color=color)
    else:
        file.write(f"{text}\n".encode())


def _printable_on(stream: TextIO, text: str) -> str:
    """The text with plain characters for those that the stream cannot take, such as lines in a Windows code page."""
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.replace("\u2500", "-").encode(encoding, "replace").decode(encoding)
    return text
