"""Durations as people write them: `5m`, `1h30m`, or a number of seconds. Read strictly, held as whole milliseconds."""

import re
from decimal import Decimal
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from policy_engine.diagnostics import described

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
DURATION_PATTERN = r"(?=[0-9])([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+(\.[0-9]{1,3})?s)?"
"""A duration with its units, as JSON Schema's regular expressions put it. Not anchored."""
_DURATION = re.compile(r"(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+(?:\.[0-9]{1,3})?)s)?")
_EXPECTED = "expected a duration such as 90s, 5m, 1h30m or 2d, or a number of seconds"
_LONGEST = 10_000 * 86_400_000


def parse_milliseconds(value: object) -> int:
    """Whole milliseconds of a duration: a number of seconds, or text such as `90s`, `5m`, `1h30m`, `2d`.

    Raises ValueError with what is expected.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{_EXPECTED}, not {described(value)}")  # noqa: TRY004 (pydantic reports ValueErrors only)
    seconds = _written(value) if isinstance(value, str) else Decimal(value if isinstance(value, int) else str(value))
    if not seconds.is_finite() or seconds < 0:
        raise ValueError(f"expected a duration that is finite and not negative, not {described(value)}")
    milliseconds = seconds * 1000
    if milliseconds > _LONGEST:
        raise ValueError(f"expected a duration of at most 10000d, not {described(value)}")
    if milliseconds != int(milliseconds):
        raise ValueError(f"expected a duration in whole milliseconds, not {described(value)}")
    return int(milliseconds)


def _written(text: str) -> Decimal:
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        raise ValueError(f"{_EXPECTED}, not {described(text)}")
    parts = zip(match.groups(), _UNITS.values(), strict=True)
    return sum((Decimal(count) * seconds for count, seconds in parts if count), Decimal(0))


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
            "anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": f"^{DURATION_PATTERN}$"}],
            "examples": ["90s", "5m", "1h30m", "2d", 120],
        }
    ),
]
"""A duration in a document: written as `5m` or as a number of seconds, held as whole milliseconds."""
