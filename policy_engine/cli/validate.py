"""`batch-quota validate`: read topologies, run the rules, print the findings."""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import click

from policy_engine.cli.failures import UNUSABLE, unusable_input
from policy_engine.cli.results import Results, result_options
from policy_engine.cli.subjects import parameter_option, read_subjects
from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.report.diagnostics import finding_text, findings_json, summary_text

FOUND = 1


@click.command("validate", no_args_is_help=True)
@click.argument("topologies", metavar="TOPOLOGY...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--strict", is_flag=True, help="Exit with status 1 for warnings too.")
@parameter_option
@result_options("How to print the findings.", "text", "json")
def command(
    *,
    topologies: tuple[str, ...],
    strict: bool,
    parameters: Mapping[str, str],
    output_format: str,
    reports: Mapping[str, str],
    output: str | None,
    force: bool,
) -> None:
    """Check topologies: read each TOPOLOGY (YAML or JSON, - for standard input) and run all rules on it.

    A TOPOLOGY can be a CloudFormation template, too: then the quota-managed queues in it are checked, and the IAM
    policies beside them.

    Findings go to standard output, a summary to standard error. Exit status: 0 without errors, 1 if a rule finds
    an error, 2 if a topology, or a queue of a template, cannot be read.

    \b
    Examples:
      batch-quota validate examples/ml-training.yaml
      batch-quota validate --strict --format json examples/*.yaml
      batch-quota validate examples/templates/training.yaml
      batch-quota validate examples/*.yaml --report sarif=quota.sarif
    """  # noqa: D301 (click takes \b as: keep these lines as they are)
    results = Results(output_format, output, reports, force=force)
    with unusable_input():
        results.refuse("text", "json")
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    files = {path: _checked(path, parameters, failing) for path in topologies}
    everything = [finding for file in files.values() for finding in file.findings]
    templates = sum(file.is_template for file in files.values())
    summary = summary_text(everything, len(files) - templates, templates)

    def render(form: str, *, color: bool) -> Iterator[str]:
        if form == "json":
            yield f"{findings_json({path: file.findings for path, file in files.items()})}\n"
        elif form == "text":
            yield from (f"{finding_text(finding, color=color)}\n" for finding in everything)
        else:
            yield _for_pipelines(form, files, failing, summary)

    with unusable_input():
        results.write(render)
    click.echo(summary, err=True)
    sys.exit(max(file.status for file in files.values()))


@dataclass(frozen=True, slots=True)
class _File:
    findings: tuple[Finding, ...]
    """By position."""
    status: int
    """The exit status that they deserve."""
    is_template: bool = False


def _for_pipelines(form: str, files: Mapping[str, _File], failing: set[Severity], summary: str) -> str:
    from policy_engine.report.checks import CheckedFile, rule_checks, unreadable
    from policy_engine.report.pipelines import pipeline_text

    checked: list[CheckedFile] = []
    for path, file in files.items():
        if file.status == UNUSABLE:
            checked += unreadable(file.findings, otherwise=path)
        else:
            checked.append(CheckedFile(path, tuple(rule_checks(file.findings, failing))))
    return pipeline_text(form, "validate", checked, summary)


def _checked(path: str, parameters: Mapping[str, str], failing: set[Severity]) -> _File:
    try:
        read = read_subjects(path, parameters)
    except InputError as error:
        return _File(error.findings, UNUSABLE)
    found = [finding for subject in read.subjects for finding in subject.findings()]
    findings = tuple(sorted([*read.problems, *read.access, *found], key=_by_position))
    if any(problem.severity is Severity.ERROR for problem in read.problems):
        status = UNUSABLE
    else:
        status = FOUND if any(finding.severity in failing for finding in findings) else 0
    return _File(findings, status, read.is_template)


def _by_position(finding: Finding) -> tuple[int, int, str]:
    place = finding.position
    return (place.line, place.column, finding.id) if place else (0, 0, finding.id)
