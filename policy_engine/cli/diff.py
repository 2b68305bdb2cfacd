"""`batch-quota diff`: what a deployment would change, and what that does to jobs."""

import sys
from collections.abc import Callable, Mapping, Sequence

import click

from policy_engine.change import QueueChange, Resource, compare, unmanaged_queue
from policy_engine.cli.failures import note, unusable_input
from policy_engine.cli.output_format import text_or_json
from policy_engine.cli.subjects import Subject, Subjects, no_such_queue, parameter_option, queue_option, read_subjects
from policy_engine.diagnostics import InputError, Severity
from policy_engine.report.change_json import changes_json
from policy_engine.report.change_text import change_findings_text, changes_text
from policy_engine.report.diagnostics import wants_color
from policy_engine.rules import ChangeRule, registry
from policy_engine.rules.change_checking import ChangeFinding, check_changes

_DANGEROUS = 1

_HELP = """\
Say what a deployment of NEW would change, if OLD is deployed now, and what that does to jobs.

Each is a topology or a CloudFormation template, such as `aws cloudformation get-template` prints. Resources are listed
in the order in which CloudFormation deals with them. Findings say what is dangerous: jobs that are terminated or may be
stopped, deployments that would fail. `batch-quota rules QM401` explains one.

Between two templates a resource is the same if its logical id is. A topology's construct is taken to stay where it is.

Exit status: 0; 1 if something is dangerous and not accepted; 2 if an input cannot be used.

\b
Examples:
  batch-quota diff examples/changes/now.yaml examples/changes/next.yaml
  batch-quota diff examples/changes/now.yaml examples/changes/next.yaml \\
      --accept QM401@research-old --accept QM413 --format json
"""


@click.command("diff", no_args_is_help=True, help=_HELP)
@click.argument("old", type=click.Path(allow_dash=True))
@click.argument("new", type=click.Path(allow_dash=True))
@click.option(
    "accepted",
    "--accept",
    metavar="ID[@NAME]",
    multiple=True,
    help="A danger that is meant: a rule's id, everywhere or for the resource of this name. It is still printed.",
)
@parameter_option
@queue_option
@text_or_json("How to print it.", for_people="table")
def command(
    *,
    old: str,
    new: str,
    accepted: tuple[str, ...],
    parameters: Mapping[str, str],
    queue_name: str | None,
    output_format: str,
) -> None:
    """Compare."""
    if old == new == "-":
        raise click.UsageError("only one of OLD and NEW can be standard input")
    accepts = _acceptance(accepted)
    with unusable_input():
        changes = _changes(_read(old, parameters), _read(new, parameters), old, new, queue_name)
    findings = [(found, accepts(found)) for found in check_changes(changes)]
    if output_format == "json":
        click.echo(changes_json(changes, findings))
    else:
        _print(changes, findings)
    click.echo(_summary(changes, findings), err=True)
    if any(found.dangerous and not taken for found, taken in findings):
        sys.exit(_DANGEROUS)


def _read(path: str, parameters: Mapping[str, str]) -> Subjects:
    """All that is in a file. Raises InputError if a part of it cannot be read."""
    read = read_subjects(path, parameters)
    if any(problem.severity is Severity.ERROR for problem in read.problems):
        raise InputError(read.problems)
    for problem in read.problems:
        if problem.severity is Severity.WARNING:
            note(problem)
    return read


def _changes(
    old: Subjects, new: Subjects, old_path: str, new_path: str, queue_name: str | None
) -> tuple[QueueChange, ...]:
    before, after = list(old.subjects), list(new.subjects)
    if queue_name is not None:
        before, after = ([each for each in side if each.name == queue_name] for side in (before, after))
        if not before and not after:
            raise no_such_queue(new_path, queue_name, [*old.subjects, *new.subjects])
    if not old.is_template and new.is_template:
        after = _counterpart(before, after, new_path)
    elif old.is_template and not new.is_template:
        before = _counterpart(after, before, old_path)
    unmanaged: Sequence[Resource] = [unmanaged_queue(each) for each in new.unmanaged]
    return compare([each.setup() for each in before], [each.setup() for each in after], unmanaged)


def _counterpart(topologies: Sequence[Subject], queues: Sequence[Subject], path: str) -> list[Subject]:
    """The queue of a template that a topology is compared with: the only one, or the one of its name."""
    if len(queues) <= 1 or not topologies:
        return list(queues)
    named = [queue for queue in queues if queue.name == topologies[0].name]
    if not named:
        raise no_such_queue(path, None, queues)
    return named


def _acceptance(texts: tuple[str, ...]) -> Callable[[ChangeFinding], bool]:
    """Whether a finding is accepted. Raises click.BadParameter for what is no rule about changes."""
    pairs: set[tuple[str, str]] = set()
    for text in texts:
        id_, _, name = text.partition("@")
        if not isinstance(registry().get(id_.upper()), ChangeRule):
            raise click.BadParameter(f"{id_!r} is no rule about changes; they are QM4xx", param_hint="--accept")
        pairs.add((id_.upper(), name))
    return lambda found: not pairs.isdisjoint({(found.finding.id, ""), (found.finding.id, found.resource)})


def _print(changes: Sequence[QueueChange], findings: Sequence[tuple[ChangeFinding, bool]]) -> None:
    color = wants_color(sys.stdout)
    if changes:
        click.echo(changes_text(changes, color=color), color=color)
    if findings:
        click.echo(f"\n{change_findings_text(findings, color=color)}", color=color)


def _summary(changes: Sequence[QueueChange], findings: Sequence[tuple[ChangeFinding, bool]]) -> str:
    count = sum(len(change.resources) for change in changes)
    dangerous = sum(found.dangerous and not taken for found, taken in findings)
    accepted = sum(taken for _, taken in findings)
    parts = [
        f"{count} {'resource changes' if count == 1 else 'resources change'}"
        if count
        else "no resource of quota management changes"
    ]
    if count:
        parts.append(f"{dangerous} {'danger' if dangerous == 1 else 'dangers'}" if dangerous else "nothing dangerous")
    return ", ".join([*parts, *([f"{accepted} accepted"] if accepted else [])])
