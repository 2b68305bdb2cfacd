"""`batch-quota trace describe`: what a trace asks for."""

import sys

import click

from policy_engine.cli import trace_output
from policy_engine.cli.failures import note, unusable_input
from policy_engine.cli.output_format import text_or_json
from policy_engine.report.diagnostics import wants_color
from policy_engine.report.trace_description import description_json, description_text
from policy_engine.topology import read_topology
from policy_engine.trace import FileFormat, read_trace
from policy_engine.trace.description import describe

_PARTS = 49
"""Bars that fit beside the name of an instance type."""
_HELP = """\
Describe a native trace: its jobs, what each share asks for, and the demand for each instance type.

Mean demand is the instance-hours of all jobs over the hours of submissions: what they keep busy on average. Load is
mean demand over capacity; for a share over its own limits, of the instance type where it is highest. Above 100 %
the jobs take longer than the time in which they come.

\b
Examples:
  batch-quota trace describe examples/traces/ml-training.csv
  batch-quota trace describe examples/traces/ml-training.csv \\
      --topology examples/ml-training.yaml
"""


@click.command("describe", no_args_is_help=True, help=_HELP, short_help="Describe what a trace asks for.")
@click.argument("trace", type=click.Path(allow_dash=True))
@click.option("topology_path", "--topology", type=click.Path(), help="Set the demand against this topology's capacity.")
@text_or_json("How to print it.")
@click.option(
    "trace_format",
    "--trace-format",
    type=click.Choice(trace_output.FORMATS),
    help="Format of TRACE, if neither its name nor its first bytes show it.",
)
def command(trace: str, topology_path: str | None, output_format: str, trace_format: str | None) -> None:
    """Describe."""
    with unusable_input():
        topology = None if topology_path is None else read_topology(topology_path).topology
        jobs = read_trace(trace, format=FileFormat(trace_format) if trace_format else None, note=note)
    description = describe(jobs, topology, parts=_PARTS)
    if output_format == "json":
        click.echo(description_json(description))
    else:
        color = wants_color(sys.stdout)
        click.echo(description_text(description, trace, color=color), color=color)
