"""Foreign traces: one module a format, each drafting a native table that is then checked like any other."""

from collections.abc import Callable

from policy_engine.diagnostics import Finding
from policy_engine.trace.formats import generic, openb, opendc, philly, philly_mix2, swf
from policy_engine.trace.formats.format import ForeignFormat
from policy_engine.trace.formats.options import Options, Sizes, TimeUnit
from policy_engine.trace.jobs import JobTrace
from policy_engine.trace.reading import trace_of
from policy_engine.trace.tables import FileFormat, Source

FORMATS: dict[str, ForeignFormat] = {
    known.name: known
    for known in (
        philly.FORMAT,
        philly_mix2.FORMAT,
        opendc.SURF,
        opendc.FORMAT,
        openb.FORMAT,
        swf.FORMAT,
        generic.FORMAT,
    )
}
"""Every format by name."""

__all__ = ["FORMATS", "ForeignFormat", "Options", "Sizes", "TimeUnit", "convert"]


def convert(
    source: Source,
    foreign: ForeignFormat,
    options: Options | None = None,
    *,
    format: FileFormat | None = None,  # noqa: A002
    note: Callable[[Finding], None] = lambda _: None,
) -> JobTrace:
    """Read a foreign trace. `note` gets what was left out, and why.

    Raises InputError with every row that makes no valid job, at its place in the source.
    """
    draft = foreign.draft(foreign.open(source, format), options or Options())
    for finding in draft.notes:
        note(finding)
    return trace_of(draft, note=note)
