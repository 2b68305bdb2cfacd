"""`batch-quota rules`: list the rules, or print the documentation of some."""

import sys
from shutil import get_terminal_size

import click

from policy_engine.cli.output_format import text_or_json
from policy_engine.report.diagnostics import wants_color
from policy_engine.report.rules import rule_text, rules_json, rules_table
from policy_engine.rules import Rule, registry
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.suggestions import did_you_mean

_WIDTH = 80
_SYNTH_SERIES = "QM5"


@click.command("rules")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@text_or_json("How to print the rules.")
def command(ids: tuple[str, ...], output_format: str) -> None:
    """List all rules, or print what the rules with these IDs check, why, and what to write instead.

    Rules QM1xx are AWS's limits, QM2xx what contradicts itself within a topology, QM3xx risks, QM4xx what
    `batch-quota diff` finds in a change.

    \b
    Examples:
      batch-quota rules
      batch-quota rules QM313
      batch-quota rules --format json QM301 QM302
    """  # noqa: D301 (click takes \b as: keep these lines as they are)
    chosen = _chosen(ids) if ids else list(registry().values())
    if output_format == "json":
        click.echo(rules_json(chosen))
        return
    color = wants_color(sys.stdout)
    if not ids:
        click.echo(rules_table(chosen, color=color), color=color)
        return
    width = min(_WIDTH, get_terminal_size((_WIDTH, 1)).columns)
    click.echo("\n\n\n".join(rule_text(rule, width=width, color=color) for rule in chosen), color=color)


def _chosen(ids: tuple[str, ...]) -> list[Rule]:
    """The rules with these ids, each once. Raises click.UsageError, which exits with status 2, for all others."""
    wanted = list(dict.fromkeys(rule_id.upper() for rule_id in ids))
    unknown = [rule_id for rule_id in wanted if rule_id not in registry()]
    if unknown:
        raise click.UsageError("\n".join(_unknown(rule_id) for rule_id in unknown))
    return [registry()[rule_id] for rule_id in wanted]


def _unknown(rule_id: str) -> str:
    if rule_id in set(ReadingError):
        return f"{rule_id} is no rule, but an error in reading a topology; docs/reading-errors.md explains it"
    if rule_id.startswith(_SYNTH_SERIES):
        return f"{rule_id} is no rule, but a finding of validation in synth; docs/policy-validation.md explains it"
    return f"there is no rule {rule_id!r}; {did_you_mean(rule_id, registry(), '`batch-quota rules` lists them')}"
