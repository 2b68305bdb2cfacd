"""`batch-quota explain`: say what becomes of one job, why, and what would have prevented it."""

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from policy_engine.cli import trace_output
from policy_engine.cli.assume import assume_option, with_assumed
from policy_engine.cli.failures import note, unusable_input
from policy_engine.cli.output_file import STDIO, opened, printable_on, refuse_output
from policy_engine.cli.output_format import text_or_json
from policy_engine.cli.progress import progress
from policy_engine.cli.replaying import moment_of, read_jobs, refuse_errors, replayed
from policy_engine.cli.subjects import parameter_option, queue_option, read_subject
from policy_engine.diagnostics import Finding, InputError, Severity, described
from policy_engine.report.diagnostics import wants_color

if TYPE_CHECKING:
    from policy_engine.explanation.life import JobLife
    from policy_engine.explanation.prevention import Preventions
    from policy_engine.scheduler import Outcome
    from policy_engine.trace import JobTrace

NO_SUCH_JOB = "EX001"
_HELP = """\
Replay TRACE on the queue of TOPOLOGY and tell the life of one JOB in order: why it waited at each stretch, on whose
capacity it ran, why it was preempted and who else could have been, what it lost, and which single change would have
prevented that.

TOPOLOGY can be a CloudFormation template, too. TRACE is a native trace: CSV, JSON Lines or Parquet, - for standard
input. JOB is its job_id. Changes of priority, limit, borrow limit, strategy and checkpoints are tried by replaying.

Exit status: 0; 1 if a rule finds an error in the topology (then nothing is replayed); 2 if an input cannot be used, or
there is no such job.

\b
Examples:
  batch-quota explain examples/ml-training.yaml \\
      examples/traces/ml-training.csv recommendations-background-037
  batch-quota explain examples/ml-training.yaml \\
      examples/traces/ml-training.csv recommendations-training-20 \\
      --assume head_of_line=per_unit --replays 0
  batch-quota explain examples/ml-training.yaml \\
      examples/traces/ml-training.csv search-background-167 \\
      --format json -o explanation.json
"""


@click.command("explain", no_args_is_help=True, help=_HELP)
@click.argument("topology", type=click.Path(allow_dash=True))
@click.argument("trace", type=click.Path(allow_dash=True))
@click.argument("job")
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
@click.option(
    "--replays",
    type=click.IntRange(min=0),
    default=40,
    show_default=True,
    metavar="N",
    help="Try at most N changes that might have prevented it; 0 tries none.",
)
@text_or_json("Text for people, or all that is known for programs.")
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
    job: str,
    events: str | None,
    assumed: tuple[str, ...],
    parameters: Mapping[str, str],
    queue_name: str | None,
    until: str | None,
    starts_at: str | None,
    replays: int,
    output_format: str,
    output: str | None,
    force: bool,
    trace_format: str | None,
) -> None:
    """Explain."""
    if [topology, trace, events].count(STDIO) > 1:
        raise click.UsageError("only one of TOPOLOGY, TRACE and --events can be standard input")
    with unusable_input():
        refuse_output(output, force=force)
        subject = read_subject(topology, parameters, queue_name, note)
        refuse_errors(subject, topology)
        assumptions = with_assumed(subject.topology.assumptions, assumed, subject.topology.units())
        jobs, control = read_jobs(subject.topology, trace, trace_format, events, starts_at)
        row = _row(jobs, job, trace)
        last = None if until is None else moment_of(until, jobs.epoch)
        life = _explain(replayed(subject.topology, jobs, control, assumptions, last), row)
        preventions = _prevent(life, replays, last) if replays else None
        _write(life, preventions, output_format, output, force=force)
    if output not in {None, STDIO}:
        click.echo(f"{described(job)} explained, written to {output}", err=True)


def _row(jobs: "JobTrace", name: str, trace: str) -> int:
    """The job's row. Raises InputError, with those that may have been meant, if there is none."""
    from policy_engine.explanation.finding_jobs import job_row, similar_jobs

    row = job_row(jobs, name)
    if row is not None:
        return row
    similar = similar_jobs(jobs, name)
    mend = f"did you mean {' or '.join(map(described, similar))}?" if similar else f"its ids are like {_examples(jobs)}"
    message = f"there is no job {described(name)} in {described(trace)}"
    raise InputError([Finding(NO_SUCH_JOB, Severity.ERROR, message, mend if len(jobs) else "it has no jobs")])


def _examples(jobs: "JobTrace") -> str:
    return ", ".join(described(name) for name in jobs.job_id.head(3).to_list())


def _explain(outcome: "Outcome", row: int) -> "JobLife":
    from policy_engine.explanation.life import explain_job

    return explain_job(outcome, row)


def _prevent(life: "JobLife", most: int, until: int | None) -> "Preventions":
    from policy_engine.explanation.prevention import find_preventions

    with progress("trying changes", most, "replays", "putting together") as done:
        return find_preventions(life, most_replays=most, until=until, on_progress=done)


def _write(
    life: "JobLife", preventions: "Preventions | None", output_format: str, output: str | None, *, force: bool
) -> None:
    with opened(output, force=force) as file:
        color = output_format != "json" and file is None and wants_color(sys.stdout)
        text = _text(life, preventions, output_format, color=color)
        if file is not None:
            file.write(text.encode())
        elif output_format == "json":
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()
        else:
            click.echo(printable_on(sys.stdout, text), nl=False, color=color)


def _text(life: "JobLife", preventions: "Preventions | None", output_format: str, *, color: bool) -> str:
    if output_format == "json":
        from policy_engine.report.explanation_json import explanation_json

        return explanation_json(life, preventions)
    from policy_engine.report.explanation_text import explanation_text

    return f"{explanation_text(life, preventions, color=color)}\n"
