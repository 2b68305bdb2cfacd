"""How a command ends when it cannot use its input: every finding on standard error, exit status 2."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from policy_engine.diagnostics import Finding, InputError
from policy_engine.report.diagnostics import finding_text, wants_color

UNUSABLE = 2


@contextmanager
def unusable_input(report: Callable[[Sequence[Finding]], None] | None = None) -> Iterator[None]:
    """Tell of an InputError, or an OSError of the file that was to be written, and exit.

    `report` is called with the findings of an InputError before that. It may raise OSErrors.
    """
    try:
        yield
    except InputError as error:
        for finding in error.findings:
            note(finding)
        if report is not None:
            with unusable_input():
                report(error.findings)
        sys.exit(UNUSABLE)
    except FileExistsError as error:
        click.echo(f"error: {error}; --force overwrites it", err=True)
        sys.exit(UNUSABLE)
    except BrokenPipeError:
        raise  # the reader of standard output has enough; click ends quietly
    except OSError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNUSABLE)


def note(finding: Finding) -> None:
    """Print one finding on standard error."""
    color = wants_color(sys.stderr)
    click.echo(finding_text(finding, color=color), err=True, color=color)
