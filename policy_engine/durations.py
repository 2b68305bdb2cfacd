"""Durations and percentages as people write them: `5m`, `1h30m`, `90`, `60%`. Read strictly."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d{1,3})?)s)?")
_PATTERN = r"^(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+(\.\d{1,3})?s)?$"
_LONGEST = 10_000 * 86_400_000


def parse_milliseconds(value: object) -> int:
    """Whole milliseconds of a duration: a number of seconds, or text such as `90s`, `5m`, `1h30m`, `2d`.

    Raises ValueError with what is expected.
    """
    expected = "expected a duration such as 90s, 5m, 1h30m or 2d, or a number of seconds"
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{expected}, not {value!r}")
    if isinstance(value, str):
        match = _DURATION.fullmatch(value)
        if match is None or not value:
            raise ValueError(f"{expected}, not {value!r}")
        seconds = sum((Decimal(part) * _UNITS[unit] for part, unit in zip(match.groups(), "dhms", strict=True) if part), Decimal(0))
    else:
        seconds = Decimal(str(value))
    if not seconds.is_finite() or seconds < 0:
        raise ValueError(f"a duration is finite and not negative, not {value!r}")
    milliseconds = seconds * 1000
    if milliseconds != int(milliseconds):
        raise ValueError(f"a duration is whole milliseconds, not {value!r}")
    if milliseconds > _LONGEST:
        raise ValueError(f"a duration is at most 10000d, not {value!r}")
    return int(milliseconds)


def format_milliseconds(milliseconds: int) -> str:
    """The shortest way to write a duration that `parse_milliseconds` reads back: `1h30m`, `0s`, `1.5s`."""
    seconds, rest = divmod(milliseconds, 1000)
    parts = []
    for unit in "dhm":
        count, seconds = divmod(seconds, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    if rest:
        parts.append(f"{seconds}.{rest:03d}".rstrip("0") + "s")
    elif seconds or not parts:
        parts.append(f"{seconds}s")
    return "".join(parts)


def _serialize(milliseconds: int) -> float | int:
    return milliseconds // 1000 if milliseconds % 1000 == 0 else milliseconds / 1000


Milliseconds = Annotated[
    int,
    BeforeValidator(parse_milliseconds),
    PlainSerializer(_serialize, return_type=float | int),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": _PATTERN}],
            "examples": ["90s", "5m", "1h30m", "2d", 120],
        }
    ),
]
"""A duration in a document: written as `5m` or as a number of seconds, held as whole milliseconds."""
