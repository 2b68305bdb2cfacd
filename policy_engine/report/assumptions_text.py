"""The assumptions of the scheduling model for people, within 80 columns, and as JSON for programs."""

import json
from collections.abc import Iterable, Mapping
from textwrap import wrap

from click import style

from policy_engine.amounts import printable
from policy_engine.assumptions import DEFAULT_UNIT, Assumptions, Switch
from policy_engine.durations import format_milliseconds

_WIDTH = 80
_INDENT = 2
_LABELS = {"alternatives": "can be", "disclosed": "AWS says", "unknown": "unknown", "reason": "reason"}
_MARGIN = _INDENT + max(map(len, _LABELS.values())) + 2

Described = tuple[str, str, object, Switch]
"""A switch as `Assumptions.switches()` gives it: name, description, default, what is known of it."""


def assumptions_text(switches: Iterable[Described], *, color: bool) -> str:
    """Each switch with its default, what it decides, what it can be, and what AWS says and does not say about it."""
    return "\n\n".join(_switch_text(*described, color=color) for described in switches)


def assumptions_json(switches: Iterable[Described]) -> str:
    """`{"version": 1, "switches": [{"name", "default", "description", …}]}`. Durations in seconds."""
    rows = [
        {
            "name": name,
            "default": default,
            "description": description,
            **{field: getattr(switch, field) for field in Switch.__slots__},
        }
        for name, description, default, switch in switches
    ]
    return json.dumps({"version": 1, "switches": rows}, indent=2)


def assumption_value(value: object) -> str:
    """An assumption's value as people write it: `strict`, `2m`, `3m, ml.g5.48xlarge 6m`."""
    if isinstance(value, Mapping):
        return ", ".join(
            format_milliseconds(time) if unit == DEFAULT_UNIT else f"{printable(unit)} {format_milliseconds(time)}"
            for unit, time in value.items()
        )
    return format_milliseconds(value) if isinstance(value, int) else str(value)


def departures(assumptions: Assumptions) -> dict[str, str]:
    """The switches that are not at their defaults, with their values."""
    default = Assumptions()
    return {
        name: assumption_value(getattr(assumptions, name))
        for name in Assumptions.model_fields
        if getattr(assumptions, name) != getattr(default, name)
    }


def _switch_text(name: str, description: str, _default: object, switch: Switch, *, color: bool) -> str:
    value = assumption_value(getattr(Assumptions(), name))
    lines = [f"{style(name, bold=True) if color else name}: {value}"]
    lines += wrap(description, _WIDTH, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)
    for field, label in _LABELS.items():
        head = f"{'':{_INDENT}}{label:<{_MARGIN - _INDENT}}"
        lines += wrap(getattr(switch, field), _WIDTH, initial_indent=head, subsequent_indent=" " * _MARGIN)
    return "\n".join(lines)
