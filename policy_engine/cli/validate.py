"""`batch-quota validate`: read topologies, run the rules, print the findings."""

import sys

import click

from policy_engine.cli.failures import UNUSABLE
from policy_engine.cli.output_format import text_or_json
from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.report.diagnostics import finding_text, findings_json, summary_text, wants_color
from policy_engine.topology import read_topology

FOUND = 1


@click.command("validate", no_args_is_help=True)
@click.argument("topologies", metavar="TOPOLOGY...", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--strict", is_flag=True, help="Exit with status 1 for warnings too.")
@text_or_json("How to print the findings.")
def command(topologies: tuple[str, ...], output_format: str, *, strict: bool) -> None:
    """Check topologies: read each TOPOLOGY (YAML or JSON, - for standard input) and run all rules on it.

    Findings go to standard output, a summary to standard error. Exit status: 0 without errors, 1 if a rule finds
    an error, 2 if a topology cannot be read.

    \b
    Examples:
      batch-quota validate examples/ml-training.yaml
      batch-quota validate --strict --format json examples/*.yaml
    """  # noqa: D301 (click takes \b as: keep these lines as they are)
    found: dict[str, tuple[Finding, ...]] = {}
    status = 0
    for path in topologies:
        found[path], worst = _findings(path, strict=strict)
        status = max(status, worst)
    everything = [finding for findings in found.values() for finding in findings]
    if output_format == "json":
        click.echo(findings_json(found))
    else:
        color = wants_color(sys.stdout)
        for finding in everything:
            click.echo(finding_text(finding, color=color), color=color)
    click.echo(summary_text(everything, len(found)), err=True)
    sys.exit(status)


def _findings(path: str, *, strict: bool) -> tuple[tuple[Finding, ...], int]:
    """What is found in a file, by position, and the exit status that it deserves."""
    from policy_engine.rules import check

    try:
        document = read_topology(path)
    except InputError as error:
        return error.findings, UNUSABLE
    findings = tuple(sorted(check(document.topology, document.sources), key=_by_position))
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return findings, FOUND if any(finding.severity in failing for finding in findings) else 0


def _by_position(finding: Finding) -> tuple[int, int, str]:
    place = finding.position
    return (place.line, place.column, finding.id) if place else (0, 0, finding.id)
