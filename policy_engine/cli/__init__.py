"""The `batch-quota` command: one module a subcommand, imported only when it is called."""

import sys
from importlib import import_module
from io import TextIOWrapper
from typing import cast

import click

from policy_engine.cli.interruption import INTERRUPTED

_COMMANDS = {
    "assumptions": "Print the assumptions that a replay depends on.",
    "compare": "Compare topologies, or assumptions, by replaying a trace on each.",
    "diff": "Say what a deployment would change, and what is dangerous.",
    "emulate": "Emulate AWS Batch with quota management, for any AWS client.",
    "explain": "Say what becomes of one job, why, and what would have prevented it.",
    "prices": "Get prices of instances.",
    "replay": "Replay a trace on a topology and predict preemptions and waits.",
    "rules": "List the rules, or print one.",
    "schema": "Print a JSON Schema.",
    "trace": "Convert, generate and describe traces.",
    "validate": "Check topologies.",
}


class _LazyGroup(click.Group):
    """Lists all subcommands without importing them: `validate` must not pay for what `replay` needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"policy_engine.cli.{cmd_name}")
        return cast("click.Command", module.command)

    def invoke(self, ctx: click.Context) -> object:
        """Run a subcommand. Ctrl-C ends it as the shell expects, with status 130."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            sys.exit(INTERRUPTED)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, _COMMANDS[name]) for name in self.list_commands(ctx)])


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(package_name="batch-quota", prog_name="batch-quota")
def main() -> None:
    """Share GPU capacity with AWS Batch quota management, and know beforehand what happens."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal or a file's name that knows fewer characters than we print is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
