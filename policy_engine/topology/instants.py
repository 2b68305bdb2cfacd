"""Points in time as people write them: ISO 8601 with a zone. Read strictly, held as datetimes in UTC."""

import re
from datetime import UTC, datetime
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from policy_engine.diagnostics import described

INSTANT_PATTERN = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
"""A point in time, as JSON Schema's regular expressions put it. Not anchored."""
_INSTANT = re.compile(INSTANT_PATTERN)
_WITHOUT_ZONE = re.compile(INSTANT_PATTERN.rpartition("([Zz]|")[0])
_EXPECTED = "expected a time with its zone, such as 2026-03-02T11:30:00Z"
_EARLIEST = datetime(1970, 1, 2, tzinfo=UTC)
_LATEST = datetime(9999, 12, 30, tzinfo=UTC)


def parse_instant(value: object) -> datetime:
    """The point in time that a text such as `2026-03-02T11:30:00Z` or `2026-03-02T04:30-07:00` names, in UTC.

    Takes datetimes with a zone too. Raises ValueError with what is expected.
    """
    if isinstance(value, datetime):
        instant = value
    elif isinstance(value, str) and _INSTANT.fullmatch(value):
        instant = _read(value)
    elif isinstance(value, str) and _WITHOUT_ZONE.fullmatch(value):
        raise ValueError(f"{_EXPECTED}; {described(value)} has none, and UTC would be {value}Z")
    else:
        raise ValueError(f"{_EXPECTED}, not {described(value)}")
    if instant.tzinfo is None:
        raise ValueError(f"{_EXPECTED}, not a datetime without one")
    if not _EARLIEST <= instant <= _LATEST:
        raise ValueError(f"expected a time from {_EARLIEST:%Y} to {_LATEST:%Y}, not {described(str(value))}")
    return instant.astimezone(UTC)


def _read(text: str) -> datetime:
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError as error:
        raise ValueError(f"{_EXPECTED}; there is no {described(text)}") from error


def format_instant(instant: datetime) -> str:
    """The shortest way to write a point in time in UTC that `parse_instant` reads back: `2026-03-02T11:30:00Z`."""
    return instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


Instant = Annotated[
    datetime,
    BeforeValidator(parse_instant),
    PlainSerializer(format_instant, return_type=str),
    WithJsonSchema(
        {"type": "string", "pattern": f"^{INSTANT_PATTERN}$", "examples": ["2026-03-02T11:30:00Z"]},
    ),
]
"""A point in time in a document: written in ISO 8601 with a zone, held as a datetime in UTC."""
