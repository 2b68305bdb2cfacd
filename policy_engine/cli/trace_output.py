"""Where a trace goes that a command made: a file that appears whole, or standard output."""

import io
import sys

import click

from policy_engine.trace.jobs import JobTrace
from policy_engine.trace.tables import FileFormat
from policy_engine.trace.writing import write_stream, write_trace

STDOUT = "-"
FORMATS = [form.value for form in FileFormat]


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
