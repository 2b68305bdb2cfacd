"""What every foreign trace format is: how to open it, and how to draft a native table from it."""

from collections.abc import Callable
from dataclasses import dataclass

from policy_engine.trace.formats.draft import Draft
from policy_engine.trace.formats.options import Options
from policy_engine.trace.tables import FileFormat, Source, Table, open_table

SHARE_OPTIONS = frozenset({"share", "spread", "share_of", "share_prefix"})


@dataclass(frozen=True, slots=True)
class ForeignFormat:
    """One format. `draft` and `open` raise InputError."""

    name: str
    summary: str
    options: frozenset[str]
    """Names of the Options that it uses."""
    draft: Callable[[Table, Options], Draft]
    open: Callable[[Source, FileFormat | None], Table] = open_table
