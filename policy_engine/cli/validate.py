"""`batch-quota validate`: read topologies, run the rules, print the findings."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

import click

from policy_engine.cli.failures import UNUSABLE
from policy_engine.cli.output_format import text_or_json
from policy_engine.cli.subjects import parameter_option, read_subjects
from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.report.diagnostics import finding_text, findings_json, summary_text, wants_color

FOUND = 1


@click.command("validate", no_args_is_help=True)
@click.argument("topologies", metavar="TOPOLOGY...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--strict", is_flag=True, help="Exit with status 1 for warnings too.")
@parameter_option
@text_or_json("How to print the findings.")
def command(topologies: tuple[str, ...], parameters: Mapping[str, str], output_format: str, *, strict: bool) -> None:
    """Check topologies: read each TOPOLOGY (YAML or JSON, - for standard input) and run all rules on it.

    A TOPOLOGY can be a CloudFormation template, too: then the quota-managed queues in it are checked.

    Findings go to standard output, a summary to standard error. Exit status: 0 without errors, 1 if a rule finds
    an error, 2 if a topology, or a queue of a template, cannot be read.

    \b
    Examples:
      batch-quota validate examples/ml-training.yaml
      batch-quota validate --strict --format json examples/*.yaml
      batch-quota validate examples/templates/training.yaml
    """  # noqa: D301 (click takes \b as: keep these lines as they are)
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    files = {path: _checked(path, parameters, failing) for path in topologies}
    everything = [finding for file in files.values() for finding in file.findings]
    if output_format == "json":
        click.echo(findings_json({path: file.findings for path, file in files.items()}))
    else:
        color = wants_color(sys.stdout)
        for finding in everything:
            click.echo(finding_text(finding, color=color), color=color)
    templates = sum(file.is_template for file in files.values())
    click.echo(summary_text(everything, len(files) - templates, templates), err=True)
    sys.exit(max(file.status for file in files.values()))


@dataclass(frozen=True, slots=True)
class _File:
    findings: tuple[Finding, ...]
    """By position."""
    status: int
    """The exit status that they deserve."""
    is_template: bool = False


def _checked(path: str, parameters: Mapping[str, str], failing: set[Severity]) -> _File:
    try:
        read = read_subjects(path, parameters)
    except InputError as error:
        return _File(error.findings, UNUSABLE)
    found = [finding for subject in read.subjects for finding in subject.findings()]
    findings = tuple(sorted([*read.problems, *found], key=_by_position))
    if any(problem.severity is Severity.ERROR for problem in read.problems):
        status = UNUSABLE
    else:
        status = FOUND if any(finding.severity in failing for finding in findings) else 0
    return _File(findings, status, read.is_template)


def _by_position(finding: Finding) -> tuple[int, int, str]:
    place = finding.position
    return (place.line, place.column, finding.id) if place else (0, 0, finding.id)
