"""`batch-quota assumptions`: what a replay assumes where AWS is silent."""

import sys

import click

from policy_engine.assumptions import Assumptions
from policy_engine.cli.output_format import text_or_json
from policy_engine.report.assumptions_text import assumptions_json, assumptions_text
from policy_engine.report.diagnostics import wants_color
from policy_engine.topology.suggestions import did_you_mean


@click.command("assumptions")
@click.argument("names", metavar="[SWITCH]...", nargs=-1)
@text_or_json("How to print them.")
def command(names: tuple[str, ...], output_format: str) -> None:
    """Print the switches of the scheduling model, or these: what AWS says, what it leaves open, and the default.

    A replay follows what AWS documents. Where AWS is silent it assumes something, and says so. Set a switch in a
    topology under `assumptions`, or with `batch-quota replay --assume SWITCH=VALUE`.

    \b
    Examples:
      batch-quota assumptions
      batch-quota assumptions victim_order stop_seconds
      batch-quota assumptions --format json
    """  # noqa: D301 (click takes \b as: keep these lines as they are)
    known = {described[0]: described for described in Assumptions.switches()}
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, f"there are {', '.join(known)}")
            raise click.BadParameter(f"there is no switch {name!r}; {hint}", param_hint="SWITCH")
    chosen = [known[name] for name in names or known]
    if output_format == "json":
        click.echo(assumptions_json(chosen))
    else:
        color = wants_color(sys.stdout)
        click.echo(assumptions_text(chosen, color=color), color=color)
