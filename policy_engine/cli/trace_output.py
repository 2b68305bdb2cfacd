"""Where a trace goes that a command made: a file that appears whole, or standard output."""

import io
import sys

import click
from click.decorators import FC

from policy_engine.trace.jobs import JobTrace
from policy_engine.trace.tables import FileFormat
from policy_engine.trace.writing import write_stream, write_trace

STDOUT = "-"
FORMATS = [form.value for form in FileFormat]


def options(function: FC) -> FC:
    """The options that say where a trace goes, and in which format: `output`, `output_format`, `force`."""
    for option in (
        click.option("--force", is_flag=True, help="Overwrite the output."),
        click.option(
            "output_format",
            "--to",
            type=click.Choice(FORMATS),
            help="Format to write, if the file's name does not show it. [default: csv]",
        ),
        click.option(
            "output",
            "-o",
            "--output",
            type=click.Path(allow_dash=True),
            default=STDOUT,
            help="File to write; standard output if left out.",
        ),
    ):
        function = option(function)
    return function


def put(trace: JobTrace, output: str, output_format: str | None, *, force: bool) -> None:
    """Write a trace, and say so on standard error. Raises OSError."""
    form = FileFormat(output_format) if output_format else None
    shares = f"{len(trace.share_names)} share{'' if len(trace.share_names) == 1 else 's'}"
    if output == STDOUT:
        buffer = io.BytesIO()
        write_stream(trace, buffer, form or FileFormat.CSV)
        sys.stdout.buffer.write(buffer.getbuffer())
    else:
        write_trace(trace, output, format=form, overwrite=force)
    click.echo(f"{len(trace):,} jobs of {shares}" + ("" if output == STDOUT else f" written to {output}"), err=True)
