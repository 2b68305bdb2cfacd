"""`batch-quota compare`: one trace on several topologies, or under several assumptions, side by side."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from policy_engine.amounts import counted
from policy_engine.cli import trace_output
from policy_engine.cli.assume import assume_option, with_assumed
from policy_engine.cli.failures import note, unusable_input
from policy_engine.cli.output_file import STDIO
from policy_engine.cli.pairs import pair_option
from policy_engine.cli.prices_option import prices_option, read_given_prices
from policy_engine.cli.replaying import (
    FOUND,
    moment_of,
    read_given,
    refuse_errors,
    replayed_variant,
    tell_of_undated_plans,
)
from policy_engine.cli.results import Results, result_options
from policy_engine.cli.subjects import Subject, no_such_queue, parameter_option, queue_option, read_subjects
from policy_engine.diagnostics import InputError, Severity, described
from policy_engine.topology import Topology
from policy_engine.topology.suggestions import did_you_mean

if TYPE_CHECKING:
    from policy_engine.change import QueueChange
    from policy_engine.forecast import Comparison, Variant
    from policy_engine.forecast.comparing import Replay
    from policy_engine.pricing import Prices
    from policy_engine.report.checks import CheckedFile
    from policy_engine.trace import ControlEvent, JobTrace

_FORMS = ("table", "json")
_HELP = """\
Replay TRACE on each topology and compare the first, what is there now, with every other, what is proposed.

A topology can be a CloudFormation template, too. With a single topology, each --under compares it with itself under
other assumptions. Jobs of a share that a topology lacks are left out there, which is told; --move submits them to
another share.

The expectations of what is proposed are checked; in bounds such as '<= baseline * 1.1' the baseline is the first.

Exit status: 0; 1 if one of them is broken, or a rule finds an error in a topology (then nothing is replayed); 2 if an
input cannot be used.

\b
Examples:
  batch-quota compare examples/changes/now.yaml \\
      examples/changes/next.yaml examples/traces/training.csv
  batch-quota compare examples/ml-training.yaml \\
      examples/traces/ml-training.csv --under victim_order=youngest \\
      --under stop_seconds=30s,head_of_line=per_unit
  batch-quota compare examples/changes/now.yaml \\
      examples/changes/next.yaml examples/traces/training.csv \\
      --prices examples/prices/made-up.yaml \\
      --format markdown -o comparison.md
"""


@click.command("compare", no_args_is_help=True, help=_HELP)
@click.argument(
    "topologies", metavar="CURRENT [PROPOSED]...", nargs=-1, required=True, type=click.Path(allow_dash=True)
)
@click.argument("trace", type=click.Path(allow_dash=True))
@click.option("--events", type=click.Path(allow_dash=True), help="Control events: CSV or JSON Lines.")
@assume_option
@click.option(
    "under",
    "--under",
    metavar="SWITCH=VALUE[,...]",
    multiple=True,
    help="Compare a single topology with itself under these assumptions. Each one more makes one more comparison.",
)
@pair_option("--move", "moved", "SHARE=OTHER", "Where a topology has no SHARE, submit its jobs to OTHER.")
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
    "A table for people, JSON for programs (`batch-quota schema comparison` describes it), Markdown for a pull "
    "request, or broken expectations for code scanning, annotations and test reports.",
    *_FORMS,
)
@click.option(
    "jobs_shown",
    "--jobs",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    metavar="N",
    help="List the N jobs that gain most, and that lose most.",
)
@click.option(
    "trace_format",
    "--trace-format",
    type=click.Choice(trace_output.FORMATS),
    help="Format of TRACE, if neither its name nor its first bytes show it.",
)
def command(
    *,
    topologies: tuple[str, ...],
    trace: str,
    events: str | None,
    assumed: tuple[str, ...],
    under: tuple[str, ...],
    moved: Mapping[str, str],
    prices_path: str | None,
    parameters: Mapping[str, str],
    queue_name: str | None,
    until: str | None,
    starts_at: str | None,
    output_format: str,
    reports: Mapping[str, str],
    jobs_shown: int,
    output: str | None,
    force: bool,
    trace_format: str | None,
) -> None:
    """Compare."""
    _check_usage(topologies, under, [*topologies, trace, events, prices_path])
    results = Results(output_format, output, reports, force=force)
    failed = partial(results.write_findings, "compare", topologies[0])
    with unusable_input(failed):
        results.refuse(*_FORMS)
        subjects = _read(topologies, parameters, queue_name)
        for subject, path in zip(subjects, topologies, strict=True):
            refuse_errors(subject, path, failed)
        variants = _variants(subjects, topologies, assumed, under, moved)
        known = _union(subjects)
        prices = read_given_prices(prices_path, known.units())
        jobs, control = read_given(known, trace, trace_format, events, starts_at)
        tell_of_undated_plans(jobs, [subject.topology for subject in subjects])
        last = None if until is None else moment_of(until, jobs.epoch)
        comparisons = _compared(variants, jobs, control, last, prices)
        results.write(
            partial(
                _render,
                comparisons=comparisons,
                changes=_changes(subjects, variants),
                jobs=jobs_shown,
                checked=partial(_checked, comparisons, subjects, topologies, trace),
            )
        )
    if results.files:
        click.echo(f"{counted(len(variants), 'replay')} compared, written to {', '.join(results.files)}", err=True)
    if any(comparison.broken for comparison in comparisons):
        sys.exit(FOUND)


def _check_usage(topologies: Sequence[str], under: Sequence[str], inputs: Sequence[str | None]) -> None:
    if inputs.count(STDIO) > 1:
        raise click.UsageError("only one input can be standard input")
    if len(topologies) == 1 and not under:
        raise click.UsageError("there is nothing to compare with: name a second topology, or assumptions with --under")
    if len(topologies) > 1 and under:
        raise click.UsageError("--under compares a single topology with itself; --assume is for all topologies")


def _read(paths: Sequence[str], parameters: Mapping[str, str], queue_name: str | None) -> list[Subject]:
    """What each file is about. Of several queues of a template, the one named, or the one of the first file's name."""
    subjects: list[Subject] = []
    for path in paths:
        read = read_subjects(path, parameters)
        wanted = queue_name if read.is_template else None
        found = [each for each in read.subjects if wanted in {None, each.name}]
        if len(found) > 1 and subjects:
            found = [each for each in found if each.name == subjects[0].name]
        if len(found) != 1:
            if any(problem.severity is Severity.ERROR for problem in read.problems) and not found:
                raise InputError(read.problems)
            raise no_such_queue(path, wanted, read.subjects)
        for problem in read.problems:
            note(problem)
        subjects.append(found[0])
    return subjects


def _variants(
    subjects: Sequence[Subject],
    paths: Sequence[str],
    assumed: Sequence[str],
    under: Sequence[str],
    moved: Mapping[str, str],
) -> "list[Variant]":
    from policy_engine.forecast import Variant

    _check_moves(subjects, moved)
    variants = []
    for subject, label in zip(subjects, _labels(paths), strict=True):
        topology = subject.topology
        assumptions = with_assumed(topology.assumptions, assumed, topology.units())
        variants.append(Variant(label, topology, assumptions, moved))
    first = variants[0]
    for texts in under:
        assumptions = with_assumed(first.assumed, texts.split(","), first.topology.units())
        variants.append(Variant(texts, first.topology, assumptions, moved))
    return variants


def _check_moves(subjects: Sequence[Subject], moved: Mapping[str, str]) -> None:
    known = dict.fromkeys(owned.name for each in subjects for owned in each.topology.quota_shares())
    for target in moved.values():
        if target not in known:
            mend = did_you_mean(target, known, f"there are {', '.join(known)}")
            raise click.BadParameter(f"no topology has the share {described(target)}; {mend}", param_hint="--move")


def _labels(paths: Sequence[str]) -> list[str]:
    """The files' names, or their paths where two have the same name; a file that is given twice is numbered."""
    names = [Path(path).name if path != STDIO else "<stdin>" for path in paths]
    if len(set(names)) < len(names):
        names = list(paths)
    return [name if names.count(name) == 1 else f"{name} ({number})" for number, name in enumerate(names, 1)]


def _union(subjects: Sequence[Subject]) -> Topology:
    from policy_engine.forecast.variants import union

    return union(each.topology for each in subjects)


def _compared(
    variants: "Sequence[Variant]",
    jobs: "JobTrace",
    events: "Sequence[ControlEvent]",
    until: int | None,
    prices: "Prices | None",
) -> "list[Comparison]":
    from policy_engine.forecast import compared
    from policy_engine.forecast.comparing import Replay, assessed

    outcomes = [replayed_variant(variant, jobs, events, until) for variant in variants]
    replays: list[Replay] = [
        assessed(variant, outcome, jobs, baseline=outcomes[0], prices=prices)
        for variant, outcome in zip(variants, outcomes, strict=True)
    ]
    _tell(replays)
    return [compared(replays[0], replay) for replay in replays[1:]]


def _tell(replays: "Sequence[Replay]") -> None:
    """What else a user should know: jobs that a topology has no share for, and jobs of training plans that ended."""
    from policy_engine.report.comparison_tables import left_out_texts
    from policy_engine.report.training_plans import left_running

    for replay in replays:
        for text in left_out_texts(replay):
            click.echo(f"{text}; --move submits them to another share", err=True)
        for text in left_running(replay.assessment.outcome):
            click.echo(f"{replay.variant.label}: {text}", err=True)


def _changes(subjects: Sequence[Subject], variants: "Sequence[Variant]") -> "dict[str, tuple[QueueChange, ...]]":
    """What differs in the resources, by the label of a proposal. None for one topology under several assumptions."""
    from policy_engine.change import compare

    if len(subjects) == 1:
        return {}
    current, *proposed = (subject.setup() for subject in subjects)
    labels = [variant.label for variant in variants[1:]]
    return {label: compare([current], [setup]) for label, setup in zip(labels, proposed, strict=True)}


def _render(
    form: str,
    *,
    color: bool,
    comparisons: "Sequence[Comparison]",
    changes: "Mapping[str, Sequence[QueueChange]]",
    jobs: int,
    checked: "Callable[[], list[CheckedFile]]",
) -> Iterator[str]:
    match form:
        case "json":
            from policy_engine.report.comparison_json import comparison_json

            yield f"{comparison_json(comparisons, changes, jobs=jobs)}\n"
        case "table":
            from policy_engine.report.comparison_text import comparison_text

            yield f"{comparison_text(comparisons, changes, jobs=jobs, color=color)}\n"
        case "markdown":
            from policy_engine.report.comparison_markdown import comparison_markdown

            yield comparison_markdown(comparisons, changes, jobs=jobs)
        case _:
            from policy_engine.report.pipelines import pipeline_text

            yield pipeline_text(form, "compare", checked(), "")


def _checked(
    comparisons: "Sequence[Comparison]", subjects: Sequence[Subject], paths: Sequence[str], trace: str
) -> "list[CheckedFile]":
    """The expectations of what is proposed. There is one subject if the proposals are assumptions."""
    from policy_engine.report.checks import CheckedFile
    from policy_engine.report.expectation_checks import expectation_checks

    proposals = list(zip(subjects, paths, strict=True))[1:] or [(subjects[0], paths[0])] * len(comparisons)
    return [
        CheckedFile(
            path,
            tuple(expectation_checks(comparison.proposed.assessment.verdicts, subject.sources, trace)),
            label=comparison.proposed.variant.label,
        )
        for comparison, (subject, path) in zip(comparisons, proposals, strict=True)
    ]
