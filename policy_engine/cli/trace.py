"""`batch-quota trace`: convert, generate and describe traces."""

import click

from policy_engine.cli import trace_convert


@click.group("trace", no_args_is_help=True)
def command() -> None:
    """Convert, generate and describe traces."""


command.add_command(trace_convert.command)
