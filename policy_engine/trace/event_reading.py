"""Reads control events: CSV or JSON Lines, one row an event, every bad one reported."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import polars as pl

from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.topology import ResourceSharingStrategy, ShareState, Topology
from policy_engine.topology.suggestions import did_you_mean
from policy_engine.trace.bad_rows import show
from policy_engine.trace.events import (
    ControlEvent,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
)
from policy_engine.trace.jobs import JobTrace
from policy_engine.trace.needs import MOST_INSTANCES
from policy_engine.trace.tables import FileFormat, Source, Table, open_table
from policy_engine.trace.times import LONGEST, dates_to_milliseconds, like_dates

_AT, _EVENT = "at", "event"
_FIELDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "update_priority": (("job", "priority"), ()),
    "update_share": (("share",), ("limits", "strategy", "borrow_limit", "in_share_preemption")),
    "set_share_state": (("share", "state"), ()),
    "update_capacity": (("unit", "capacity"), ()),
    "terminate": (("job",), ()),
    "unavailable": (("unit", "until"), ()),
}
"""What each event needs, and what it may have."""
_COLUMNS = tuple(dict.fromkeys([_AT, _EVENT, *(f for needs, may in _FIELDS.values() for f in (*needs, *may))]))
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?")
_MOST_LIMITS = 5
_HIGHEST_BORROW_LIMIT = 1_000_000_000


class _Fault(NamedTuple):
    """What is wrong with one field of one event."""

    id: str
    field: str
    message: str
    help: str = ""


class _BadFieldError(Exception):
    """What a field should have been."""


def read_events(
    source: Source,
    *,
    format: FileFormat | None = None,  # noqa: A002
    trace: JobTrace | None = None,
    topology: Topology | None = None,
) -> tuple[ControlEvent, ...]:
    """Read control events from a path, `-` or an open binary stream: by time, those of one time in file order.

    Times may be ISO 8601 if the trace's are. Jobs are checked against the trace, shares and units against the topology.
    Raises InputError with everything that is wrong, each at its line.
    """
    table = open_table(source, format)
    findings = [*table.findings, *_column_findings(table)]
    if any(finding.id == "TR003" for finding in findings):
        raise InputError(findings)
    events: list[ControlEvent] = []
    rows = _rows(table)
    check = _Checks(trace, topology)
    for row, fields in enumerate(rows):
        event, faults = _event(fields, None if trace is None else trace.epoch)
        faults = faults or list(check.faults(event) if event else ())
        for fault in faults:
            position = table.position(row, fault.field)
            message = f"{fault.field}: {fault.message}"
            findings.append(Finding(fault.id, Severity.ERROR, message, fault.help, (fault.field,), position))
        if event is not None and not faults:
            events.append(event)
    if findings:
        raise InputError(findings)
    return tuple(sorted(events, key=lambda event: event.at))


def check_events(events: Collection[ControlEvent], trace: JobTrace, topology: Topology) -> None:
    """Raise InputError if events in memory name jobs, shares or units that the trace and the topology lack."""
    check = _Checks(trace, topology)
    findings = [
        Finding(fault.id, Severity.ERROR, f"event {number}, {fault.field}: {fault.message}", fault.help, (fault.field,))
        for number, event in enumerate(events, 1)
        for fault in check.faults(event)
    ]
    if findings:
        raise InputError(findings)


class _Checks:
    """Whether events name what is there."""

    def __init__(self, trace: JobTrace | None, topology: Topology | None) -> None:
        self._jobs = None if trace is None else frozenset(trace.job_id)
        self._shares = None if topology is None else [owned.name for owned in topology.quota_shares()]
        self._units = None if topology is None else topology.units()

    def faults(self, event: ControlEvent) -> Iterator[_Fault]:
        """What the event names that is not there."""
        match event:
            case UpdatePriority() | Terminate():
                if self._jobs is not None and event.job not in self._jobs:
                    yield _Fault("TR034", "job", f"the trace has no job {show(event.job)}")
            case UpdateShare() | SetShareState():
                yield from self._unknown("share", event.share, self._shares)
                if isinstance(event, UpdateShare):
                    for unit in event.limits or ():
                        yield from self._unknown("limits", unit, self._units)
            case UpdateCapacity() | Unavailable():
                yield from self._unknown("unit", event.unit, self._units)

    @staticmethod
    def _unknown(field: str, name: str, known: Collection[str] | None) -> Iterator[_Fault]:
        if known is not None and name not in known:
            noun = "share" if field == "share" else "capacity unit"
            help_ = did_you_mean(name[:128], known, f"it has {', '.join(known)}")
            yield _Fault("TR034", field, f"the topology has no {noun} {show(name)}", help_)


def _column_findings(table: Table) -> Iterator[Finding]:
    place = table.position(0, None)
    for column in (_AT, _EVENT):
        if column not in table.columns:
            yield Finding("TR003", Severity.ERROR, f"the column {column} is missing", path=(column,), position=place)
    for column in table.columns:
        if column not in _COLUMNS:
            help_ = did_you_mean(column, _COLUMNS, f"events have {', '.join(_COLUMNS)}")
            message = f"unknown column {show(column)}"
            yield Finding("TR004", Severity.ERROR, message, help_, (column,), place)


def _rows(table: Table) -> Iterator[dict[str, str]]:
    """The fields that each row fills, as text."""
    frame = pl.DataFrame([table.column(column).cast(pl.String) for column in table.columns if column in _COLUMNS])
    for row in frame.iter_rows(named=True):
        yield {column: value for column, value in row.items() if value is not None}


def _event(fields: Mapping[str, str], epoch: int | None) -> tuple[ControlEvent | None, list[_Fault]]:
    name = fields.get(_EVENT, "")
    if name not in _FIELDS:
        names = ", ".join(_FIELDS)
        found = f"not {show(name)}" if name else "found nothing"
        return None, [_Fault("TR031", _EVENT, f"expected one of {names}, {found}", did_you_mean(name[:128], _FIELDS))]
    needs, may = _FIELDS[name]
    faults = _field_faults(name, fields)
    values: dict[str, object] = {}
    for field in (_AT, *needs, *may):
        if field in fields:
            try:
                values[field] = _VALUES[field](fields[field], epoch)
            except _BadFieldError as error:
                id_ = "TR030" if field in {_AT, "until"} else "TR033"
                faults.append(_Fault(id_, field, f"expected {error}, not {show(fields[field])}"))
    if faults:
        return None, faults
    event = _EVENTS[name](**values)
    if isinstance(event, Unavailable) and event.until <= event.at:
        return None, [_Fault("TR030", "until", f"expected a time after at, not {show(fields['until'])}")]
    return event, []


def _field_faults(name: str, fields: Mapping[str, str]) -> list[_Fault]:
    """Fields that an event lacks, or that it does not have."""
    needs, may = _FIELDS[name]
    faults = [
        _Fault("TR032", field, f"{name} needs it, found nothing") for field in (_AT, *needs) if field not in fields
    ]
    for field in fields:
        if field not in {_AT, _EVENT, *needs, *may}:
            help_ = f"it has {', '.join((*needs, *may))}"
            faults.append(_Fault("TR032", field, f"{name} has no such field, found {show(fields[field])}", help_))
    if may and not any(field in fields for field in may):
        faults.append(_Fault("TR032", may[0], f"{name} changes nothing: give at least one of {', '.join(may)}"))
    return faults


_EVENTS: Mapping[str, Callable[..., ControlEvent]] = {
    "update_priority": UpdatePriority,
    "update_share": UpdateShare,
    "set_share_state": SetShareState,
    "update_capacity": UpdateCapacity,
    "terminate": Terminate,
    "unavailable": Unavailable,
}


def _time(text: str, epoch: int | None) -> int:
    expected = f"seconds from the trace's start, 0 to {LONGEST // 1000}"
    dates = pl.Series([text])
    if like_dates(dates).all():
        if epoch is None:
            raise _BadFieldError(f"{expected} (a date needs a trace with dates)")
        at = dates_to_milliseconds(dates).to_list()[0]
        if at is None or not 0 <= at - epoch <= LONGEST:
            raise _BadFieldError("a date and time that is not before the trace's start")
        return int(at - epoch)
    if not _NUMBER.fullmatch(text) or float(text) > LONGEST // 1000:
        raise _BadFieldError(expected + ("" if epoch is None else ", or a date and time"))
    return round(float(text) * 1000)


def _whole(low: int, high: int) -> Callable[[str, int | None], int]:
    def parse(text: str, _epoch: int | None) -> int:
        digits = text.removeprefix("-")
        if not (digits.isascii() and digits.isdecimal() and len(digits) < 12 and low <= int(text) <= high):
            raise _BadFieldError(f"a whole number from {low} to {high}")
        return int(text)

    return parse


def _text(text: str, _epoch: int | None) -> str:
    return text


def _flag(text: str, _epoch: int | None) -> bool:
    if text.lower() not in {"true", "false"}:
        raise _BadFieldError("true or false")
    return text.lower() == "true"


def _strategy(text: str, _epoch: int | None) -> ResourceSharingStrategy:
    if text not in list(ResourceSharingStrategy):
        raise _BadFieldError("RESERVE, LEND or LEND_AND_BORROW")
    return ResourceSharingStrategy(text)


def _state(text: str, _epoch: int | None) -> ShareState:
    if text not in list(ShareState):
        raise _BadFieldError("ENABLED or DISABLED")
    return ShareState(text)


def _limits(text: str, _epoch: int | None) -> dict[str, int]:
    expected = f"1 to {_MOST_LIMITS} limits such as ml.g5.xlarge=2;ml.p4d.24xlarge=1, each type once, at least 1"
    pairs = _json_pairs(text) if text.startswith("{") else [tuple(part.split("=", 1)) for part in text.split(";")]
    limits: dict[str, int] = {}
    for pair in pairs:
        if len(pair) != 2 or not pair[0] or pair[0] in limits:
            raise _BadFieldError(expected)
        try:
            limits[pair[0]] = _whole(1, MOST_INSTANCES)(pair[1], None)
        except _BadFieldError as error:
            raise _BadFieldError(expected) from error
    if not 1 <= len(limits) <= _MOST_LIMITS:
        raise _BadFieldError(expected)
    return limits


def _json_pairs(text: str) -> list[tuple[str, ...]]:
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except (ValueError, RecursionError):
        return [()]
    return [(str(name), json.dumps(value)) for name, value in pairs]


_VALUES: Mapping[str, Callable[[str, int | None], object]] = {
    _AT: _time,
    "until": _time,
    "job": _text,
    "share": _text,
    "unit": _text,
    "priority": _whole(0, 9999),
    "capacity": _whole(0, MOST_INSTANCES),
    "borrow_limit": _whole(-1, _HIGHEST_BORROW_LIMIT),
    "in_share_preemption": _flag,
    "strategy": _strategy,
    "state": _state,
    "limits": _limits,
}
