"""`batch-quota trace`: convert, generate and describe traces."""

import click

from policy_engine.cli import trace_convert, trace_describe, trace_generate


@click.group("trace", no_args_is_help=True)
def command() -> None:
    """Convert, generate and describe traces."""


for _subcommand in (trace_convert.command, trace_generate.command, trace_describe.command):
    command.add_command(_subcommand)
