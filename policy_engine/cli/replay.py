"""`batch-quota replay`: replay a trace on a topology, and say what is predicted."""

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import click

from policy_engine.amounts import counted
from policy_engine.cli import trace_output
from policy_engine.cli.assume import assume_option, with_assumed
from policy_engine.cli.failures import note, unusable_input
from policy_engine.cli.output_file import STDIO
from policy_engine.cli.prices_option import prices_option, read_given_prices
from policy_engine.cli.replaying import (
    FOUND,
    moment_of,
    read_given,
    refuse_errors,
    replayed,
    replayed_variant,
    tell_of_undated_plans,
    with_training_plans,
)
from policy_engine.cli.results import Results, result_options
from policy_engine.cli.subjects import Subject, parameter_option, queue_option, read_subject

if TYPE_CHECKING:
    from policy_engine.assessment.assessing import Assessment
    from policy_engine.forecast import Variant
    from policy_engine.pricing import Prices
    from policy_engine.report.checks import CheckedFile
    from policy_engine.scheduler import Outcome
    from policy_engine.trace import JobTrace

_FORMS = ("table", "json")
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
  batch-quota replay examples/changes/next.yaml \\
      examples/traces/training.csv --baseline examples/changes/now.yaml \\
      --prices examples/prices/made-up.yaml
  batch-quota replay examples/ml-training.yaml \\
      examples/traces/ml-training.csv --report markdown=summary.md \\
      --report sarif=quota.sarif --report junit=quota.xml
"""


@click.command("replay", no_args_is_help=True, help=_HELP)
@click.argument("topology", type=click.Path(allow_dash=True))
@click.argument("trace", type=click.Path(allow_dash=True))
@click.option("--events", type=click.Path(allow_dash=True), help="Control events: CSV or JSON Lines.")
@assume_option
@click.option(
    "baseline_path",
    "--baseline",
    metavar="TOPOLOGY",
    type=click.Path(allow_dash=True),
    help="Topology, or template, that bounds such as '<= baseline * 1.1' are relative to.",
)
@prices_option
@parameter_option
@queue_option
@click.option(
    "--until", metavar="TIME", help="Stop there: 12h or 2d6h from the trace's start; a date if the trace has dates."
)
@click.option(
    "--starts-at", metavar="DATE", help="When the trace starts, if it has no dates: for training plans and --until."
)
@result_options(
    "A table for people, the outcome for programs (`batch-quota schema outcome` describes it), Markdown for a pull "
    "request, or broken expectations for code scanning, annotations and test reports.",
    *_FORMS,
)
@click.option("--usage", is_flag=True, help="With json: who used what over time, step by step.")
@click.option(
    "--preemptions",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="With table: list the first N preemptions.",
)
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
    baseline_path: str | None,
    prices_path: str | None,
    parameters: Mapping[str, str],
    queue_name: str | None,
    until: str | None,
    starts_at: str | None,
    output_format: str,
    reports: Mapping[str, str],
    usage: bool,
    preemptions: int,
    output: str | None,
    force: bool,
    trace_format: str | None,
) -> None:
    """Replay."""
    if [topology, trace, events, baseline_path, prices_path].count(STDIO) > 1:
        raise click.UsageError("only one of TOPOLOGY, TRACE and the files of options can be standard input")
    results = Results(output_format, output, reports, force=force)
    if usage and not results.has("json"):
        raise click.UsageError("--usage means nothing without --format json")
    failed = partial(results.write_findings, "replay", topology)
    with unusable_input(failed):
        results.refuse(*_FORMS)
        subject = read_subject(topology, parameters, queue_name, note)
        refuse_errors(subject, topology, failed)
        assumptions = with_assumed(subject.topology.assumptions, assumed, subject.topology.units())
        baseline = _baseline(baseline_path, parameters, queue_name, assumed)
        prices = read_given_prices(prices_path, subject.topology.units())
        jobs, control = read_given(subject.topology, trace, trace_format, events, starts_at)
        tell_of_undated_plans(jobs, [subject.topology, *([] if baseline is None else [baseline.topology])])
        last = None if until is None else moment_of(until, jobs.epoch)
        outcome = replayed(
            subject.topology, jobs, with_training_plans(subject.topology, jobs, control), assumptions, last
        )
        compared = None if baseline is None else replayed_variant(baseline, jobs, control, last)
        assessment = _assess(outcome, prices, compared)
        results.write(
            partial(
                _render,
                assessment=assessment,
                usage=usage,
                preemptions=preemptions,
                checked=partial(_checked, assessment, subject, topology, trace),
            )
        )
    for sentence in _notes(assessment, baseline, jobs):
        click.echo(sentence, err=True)
    if results.files:
        click.echo(f"{counted(len(jobs), 'job')} replayed, written to {', '.join(results.files)}", err=True)
    if assessment.broken:
        sys.exit(FOUND)


def _baseline(
    path: str | None, parameters: Mapping[str, str], queue_name: str | None, assumed: tuple[str, ...]
) -> "Variant | None":
    """What the topology is compared with. Raises InputError."""
    if path is None:
        return None
    from policy_engine.forecast import Variant

    topology = read_subject(path, parameters, queue_name, note).topology
    return Variant(path, topology, with_assumed(topology.assumptions, assumed, topology.units()))


def _assess(outcome: "Outcome", prices: "Prices | None", baseline: "Outcome | None") -> "Assessment":
    from policy_engine.assessment.assessing import assess

    return assess(outcome, prices=prices, baseline=baseline)


def _notes(assessment: "Assessment", baseline: "Variant | None", jobs: "JobTrace") -> Iterator[str]:
    """What else a user should know: jobs of plans that ended, jobs that the baseline lacks, expectations left open."""
    from policy_engine.forecast.variants import left_out
    from policy_engine.report.training_plans import left_running

    yield from left_running(assessment.outcome)
    if baseline is not None:
        for share, count in left_out(baseline, jobs).items():
            yield f"{counted(count, 'job')} of {share} left out of the baseline, which has no such share"
    elif any(not verdict.judged for verdict in assessment.verdicts):
        yield "expectations are relative to a baseline: --baseline TOPOLOGY gives it, or they are not judged"


def _render(
    form: str,
    *,
    color: bool,
    assessment: "Assessment",
    usage: bool,
    preemptions: int,
    checked: "Callable[[], CheckedFile]",
) -> Iterator[str]:
    match form:
        case "json":
            from policy_engine.report.outcome_json import outcome_json

            yield from outcome_json(assessment, usage=usage)
        case "table":
            from policy_engine.report.replay_text import replay_text

            yield f"{replay_text(assessment, preemptions=preemptions, color=color)}\n"
        case "markdown":
            from policy_engine.report.replay_markdown import replay_markdown

            yield replay_markdown(assessment)
        case _:
            from policy_engine.report.pipelines import pipeline_text

            yield pipeline_text(form, "replay", [checked()], "")


def _checked(assessment: "Assessment", subject: Subject, topology: str, trace: str) -> "CheckedFile":
    from policy_engine.report.checks import CheckedFile
    from policy_engine.report.expectation_checks import expectation_checks

    return CheckedFile(topology, tuple(expectation_checks(assessment.verdicts, subject.sources, trace)))
