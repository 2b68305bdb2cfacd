"""The columns of the native trace format, and what is wrong with a table's header."""

from collections.abc import Callable, Sequence
from difflib import SequenceMatcher

from policy_engine.diagnostics import Finding, Severity
from policy_engine.trace.tables import Table

JOB_ID, SHARE, SUBMITTED_AT, RUNTIME = "job_id", "share", "submitted_at", "runtime_seconds"
INSTANCE_TYPE, INSTANCE_COUNT, INSTANCES = "instance_type", "instance_count", "instances"
PRIORITY, RETRIES, CHECKPOINT = "priority", "preemption_retries", "checkpoint"
ATTEMPT, FAILS = "attempt_seconds", "fails"
REQUIRED = (JOB_ID, SHARE, SUBMITTED_AT, RUNTIME)
ALL = (
    *(JOB_ID, SHARE, SUBMITTED_AT, INSTANCE_TYPE, INSTANCE_COUNT, INSTANCES, RUNTIME),
    *(PRIORITY, RETRIES, CHECKPOINT, ATTEMPT, FAILS),
)


def check_columns(table: Table, note: Callable[[Finding], None]) -> list[Finding]:
    """Findings about missing columns and about unknown ones that look like a known one; the others are noted."""
    unknown = [column for column in table.columns if column not in ALL]
    missing = _missing_columns(table.columns)
    findings = [_missing(table, column, unknown) for column in missing]
    ignored = []
    for column in unknown:
        meant = resembling(column, [known for known in ALL if known not in table.columns])
        if meant is None:
            ignored.append(column)
        elif meant not in missing:
            position = table.position(0, None)
            message = f'unknown column "{column[:60]}"'
            help_ = f"did you mean {meant}? Rename the column, or drop it"
            findings.append(Finding("TR004", Severity.ERROR, message, help_, (column,), position))
    if ignored and not findings:
        names = ", ".join(column[:60] for column in ignored[:10]) + (", …" if len(ignored) > 10 else "")
        note(Finding("TR007", Severity.INFO, f"columns that a trace does not have are ignored: {names}"))
    return findings


def resembling(name: str, known: Sequence[str]) -> str | None:
    """The known name that a name was probably meant as: one that it begins or contains, or that differs by a slip."""
    plain = _plain(name)
    if len(plain) < 4 or len(plain) > 60:
        return None
    for candidate in known:
        other = _plain(candidate)
        if plain in other or other in plain:
            return candidate
    likeness = {candidate: SequenceMatcher(None, plain, _plain(candidate)).ratio() for candidate in known}
    best = max(known, key=likeness.__getitem__, default=None)
    return best if best is not None and likeness[best] >= 0.8 else None


def _plain(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())


def _missing_columns(columns: Sequence[str]) -> list[str]:
    missing = [column for column in REQUIRED if column not in columns]
    if INSTANCES not in columns:
        missing += [column for column in (INSTANCE_TYPE, INSTANCE_COUNT) if column not in columns]
    return missing


def _missing(table: Table, column: str, unknown: Sequence[str]) -> Finding:
    meant = next((name for name in unknown if resembling(name, [column])), None)
    help_ = f"`batch-quota trace convert --from columns --map {column}=<column>` reads a trace with other columns"
    if meant is not None:
        help_ = f'did you mean the column "{meant[:60]}"? Rename it to {column}'
    elif len(table.columns) == 1 and any(separator in table.columns[0] for separator in ";\t"):
        help_ = "the columns of a CSV trace are separated by commas"
    return Finding(
        "TR003", Severity.ERROR, f"the column {column} is missing", help_, (column,), table.position(0, None)
    )
