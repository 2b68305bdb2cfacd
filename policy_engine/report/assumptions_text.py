"""The assumptions of the scheduling model for people, within 80 columns, and as JSON for programs."""

from collections.abc import Mapping

from policy_engine.assumptions import DEFAULT_UNIT, Assumptions
from policy_engine.durations import format_milliseconds
from policy_engine.report.amounts import printable

_WIDTH = 80
_LABELS = {
    "disclosed": "AWS says",
    "unknown": "not known",
    "alternatives": "can be",
    "reason": "default since",
}


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
