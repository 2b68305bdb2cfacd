"""The Standard Workload Format of the Parallel Workloads Archive: 18 fields a line, comments after `;`.

Processors become instances. Jobs that never ran are left out, and so are the lines of partial runs (status 2 to 4)
of jobs that have a line of their own. Status 0 is a job that fails at its end.
"""

import re

import numpy as np
import polars as pl

from policy_engine.diagnostics import Finding, InputError, Position, Severity
from policy_engine.trace import columns as c
from policy_engine.trace.formats.draft import Draft, put_needs, put_runtime, put_share, put_submission
from policy_engine.trace.formats.format import SHARE_OPTIONS, ForeignFormat
from policy_engine.trace.formats.options import Options, TimeUnit
from policy_engine.trace.tables import FileFormat, Source, Table, read_text
from policy_engine.trace.tables.text_rows import TextRows, lines

FIELDS = (
    *("job", "submit", "wait", "runtime", "processors", "cpu_time", "memory", "requested_processors", "requested_time"),
    *("requested_memory", "status", "user", "group", "executable", "queue", "partition", "preceding", "think_time"),
)
TEAMS = ("queue", "user", "group", "partition")
UNKNOWN = "-1"
_FAILED, _PARTIAL = "0", ("2", "3", "4")
_UNIX_START = re.compile(r"^\s*;\s*UnixStartTime:\s*(\d{1,12})\s*$", re.MULTILINE)


class SwfTable:
    """The data lines of an SWF file as a table of text."""

    findings: tuple[Finding, ...] = ()
    columns = FIELDS

    def __init__(self, name: str, content: bytes) -> None:
        """Raises InputError if a line does not have 18 fields, or there is none."""
        self.name = name
        every = lines(name, content)
        texts = pl.Series([every.text(row) for row in range(len(every))], dtype=pl.String).str.strip_chars()
        data = ((texts != "") & ~texts.str.starts_with(";")).to_numpy()
        self._rows = every.select(data)
        fields = texts.filter(pl.Series(data)).str.replace_all(r"\s+", " ").str.split(" ")
        _check_fields(self._rows, fields)
        self._frame = pl.DataFrame({field: fields.list.get(index) for index, field in enumerate(FIELDS)})
        start = _UNIX_START.search(content.decode())
        self.unix_start = int(start[1]) if start else None

    def __len__(self) -> int:
        return len(self._rows)

    def column(self, name: str) -> pl.Series:
        """One field of all jobs, as text."""
        return self._frame.get_column(name)

    def position(self, row: int, column: str | None) -> Position:
        """Where a field stands."""
        if column not in FIELDS:
            return self._rows.position(row, 0)
        found = list(re.finditer(r"\S+", self._rows.text(row)))
        return self._rows.position(row, found[FIELDS.index(column)].start())


def _check_fields(rows: TextRows, fields: pl.Series) -> None:
    if not len(rows):
        raise InputError([Finding("TR002", Severity.ERROR, "the file has no jobs", position=Position(rows.name, 1, 1))])
    counts = fields.list.len().to_numpy()
    wrong = np.flatnonzero(counts != len(FIELDS)).tolist()
    findings = [
        Finding(
            "TR005",
            Severity.ERROR,
            f"the line has {counts[row]} fields, SWF has {len(FIELDS)}",
            position=rows.position(row, 0),
        )
        for row in wrong[:20]
    ]
    if len(wrong) > 20:
        message = f"lines that do not have {len(FIELDS)} fields: {len(wrong):,} in all; the first 20 are shown"
        findings.append(Finding("TR005", Severity.ERROR, message, position=rows.position(wrong[0], 0)))
    if findings:
        raise InputError(findings)


def _open(source: Source, _format: FileFormat | None) -> Table:
    return SwfTable(*read_text(source))


def _draft(source: Table, options: Options) -> Draft:
    draft = Draft(source, FIELDS)
    draft.leave_out(draft.read("status").is_in(_PARTIAL), "partial runs, whose jobs have a line of their own")
    draft.leave_out(draft.read_number("runtime") < 0, "jobs that never ran")
    unknown = [draft.read(field) == UNKNOWN for field in ("processors", "requested_processors")]
    draft.leave_out(unknown[0] & unknown[1], "jobs that name no processors")
    draft.put(c.JOB_ID, draft.read("job"), "job")
    submitted, unit = draft.read("submit"), options.unit or TimeUnit.SECONDS
    start = source.unix_start if isinstance(source, SwfTable) else None
    if start is not None and unit is TimeUnit.SECONDS:
        submitted = draft.read_number("submit") + start
    put_submission(draft, submitted, "submit", unit, unix=start is not None)
    put_runtime(draft, draft.read("runtime"), "runtime", unit)
    allocated, requested = draft.read("processors"), draft.read("requested_processors")
    put_needs(draft, allocated.zip_with(allocated != UNKNOWN, requested), "processors", options.cpus)
    _put_share(draft, options)
    draft.put(c.FAILS, draft.read("status") == _FAILED, "status")
    return draft


def _put_share(draft: Draft, options: Options) -> None:
    field = options.share_by or "queue"
    if field not in TEAMS:
        message = f"SWF has no field {field} to take shares from"
        raise InputError([Finding("TR043", Severity.ERROR, message, f"it has {', '.join(TEAMS)}")])
    teams = draft.read(field)
    if (teams == UNKNOWN).all() and options.share is None and options.spread is None:
        draft.note(f"no job names its {field}: all are in the share unknown", "--share-by user takes another field")
    put_share(draft, options, teams.replace(UNKNOWN, "unknown"), field)


FORMAT = ForeignFormat(
    "swf",
    "Standard Workload Format, 18 fields a line",
    SHARE_OPTIONS | {"cpus", "unit", "share_by"},
    _draft,
    _open,
)
