"""Where a command's result goes, and in which forms: one to standard output or a file, more to files of their own."""

import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Protocol

import click
from click.decorators import FC

from policy_engine.cli.output_file import STDIO, opened, printable_on, refuse_output
from policy_engine.cli.pairs import pair_option
from policy_engine.diagnostics import Finding
from policy_engine.report.diagnostics import wants_color

PIPELINE_FORMS = ("markdown", "sarif", "github", "junit")
"""What every command that judges something can write, also if its input cannot be used."""
_COMMAND = re.compile(r"^\s*::|##\[", re.MULTILINE)
_FOR_PEOPLE = frozenset({"text", "table"})


class Render(Protocol):
    """Makes the result in a form, in pieces. Only what goes to a terminal may have color."""

    def __call__(self, form: str, *, color: bool) -> Iterable[str]:
        """The result in a form."""


def result_options(help_text: str, *forms: str) -> Callable[[FC], FC]:
    """`--format`, whose default is the first form, `--report`, `-o` and `--force`.

    The parameters are `output_format`, `reports`, `output` and `force`.
    """
    choices = [*forms, *PIPELINE_FORMS]

    def decorate(function: FC) -> FC:
        for option in (
            click.option("--force", is_flag=True, help="Overwrite outputs."),
            pair_option(
                "--report", "reports", "FORMAT=FILE", "Write the result in this format too. Can be given several times."
            ),
            click.option(
                "output",
                "-o",
                "--output",
                type=click.Path(allow_dash=True),
                help="File to write; standard output if left out.",
            ),
            click.option(
                "output_format",
                "--format",
                type=click.Choice(choices),
                default=choices[0],
                show_default=True,
                help=help_text,
            ),
        ):
            function = option(function)
        return function

    return decorate


@dataclass(frozen=True, slots=True)
class Results:
    """The forms that are wanted of a command's result, and where each goes."""

    output_format: str
    output: str | None
    reports: Mapping[str, str]
    """Files by form."""
    force: bool

    def refuse(self, *forms: str) -> None:
        """Find out at once that something cannot be written. Raises click.BadParameter or OSError."""
        for form in self.reports:
            if form not in {*forms, *PIPELINE_FORMS}:
                known = ", ".join([*forms, *PIPELINE_FORMS])
                raise click.BadParameter(f"there is no format {form!r}; there are {known}", param_hint="--report")
        files = [file for _, file in self._wanted() if file not in {None, STDIO}]
        if len(set(files)) < len(files):
            twice = next(file for file in files if files.count(file) > 1)
            raise click.BadParameter(f"{twice} is to be written twice", param_hint="--report")
        for file in files:
            refuse_output(file, force=self.force)

    def has(self, form: str) -> bool:
        """Whether a form is wanted."""
        return any(wanted == form for wanted, _ in self._wanted())

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are written."""
        return tuple(file for _, file in self._wanted() if file is not None and file != STDIO)

    def write(self, render: Render, only: Collection[str] | None = None) -> None:
        """Write all that is wanted, or what of it has these forms: the files all whole, or none. Raises OSError."""
        with ExitStack() as stack:
            for form, path in self._wanted():
                if only is not None and form not in only:
                    continue
                file = stack.enter_context(opened(path, force=self.force))
                if file is None:
                    _print(render, form)
                else:
                    file.writelines(piece.encode() for piece in render(form, color=False))

    def write_findings(self, command: str, subject: str, findings: Collection[Finding]) -> None:
        """Write what is wrong with the input in those wanted forms that pipelines read. Raises OSError."""
        from policy_engine.report.checks import unreadable
        from policy_engine.report.pipelines import pipeline_text

        files = unreadable(list(findings), otherwise=subject)
        summary = f"{subject} cannot be used"

        def render(form: str, *, color: bool) -> Iterable[str]:
            yield pipeline_text(form, command, files, summary)

        self.write(render, PIPELINE_FORMS)

    def _wanted(self) -> list[tuple[str, str | None]]:
        return [(self.output_format, self.output), *self.reports.items()]


def _without_commands(text: str) -> str:
    """The text without what GitHub's runner would obey in a log: a job may have any name, such as `::add-mask::e`."""
    return _COMMAND.sub(lambda found: found[0][:-1] + "\ufffd", text)


def _print(render: Render, form: str) -> None:
    if form in _FOR_PEOPLE:
        color = wants_color(sys.stdout)
        for piece in render(form, color=color):
            shown = _without_commands(piece) if os.environ.get("GITHUB_ACTIONS") == "true" else piece
            click.echo(printable_on(sys.stdout, shown), nl=False, color=color)
        return
    for piece in render(form, color=False):
        sys.stdout.buffer.write(piece.encode())
    sys.stdout.buffer.flush()
