"""Batch Quota's policy engine: validate a team topology, and replay job traces through the scheduling model.

What this package itself exports is for scripts and notebooks; the guide's page on Python shows it at work. Nothing is
imported before it is used, so that `batch-quota validate` stays quick. Other modules may change between versions.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policy_engine.assumptions import Assumptions
    from policy_engine.diagnostics import Finding, InputError
    from policy_engine.library.comparing import Comparison, compare
    from policy_engine.library.explaining import Explanation, explain
    from policy_engine.library.reading import read_topology, validate
    from policy_engine.library.replaying import Replay, replay
    from policy_engine.pricing import Prices, read_prices
    from policy_engine.topology import Topology
    from policy_engine.trace import JobTrace, read_events, read_trace, write_trace

__all__ = [
    "Assumptions",
    "Comparison",
    "Explanation",
    "Finding",
    "InputError",
    "JobTrace",
    "Prices",
    "Replay",
    "Topology",
    "compare",
    "explain",
    "read_events",
    "read_prices",
    "read_topology",
    "read_trace",
    "replay",
    "validate",
    "write_trace",
]

_HOMES = {
    "assumptions": ("Assumptions",),
    "diagnostics": ("Finding", "InputError"),
    "library.comparing": ("Comparison", "compare"),
    "library.explaining": ("Explanation", "explain"),
    "library.reading": ("read_topology", "validate"),
    "library.replaying": ("Replay", "replay"),
    "pricing": ("Prices", "read_prices"),
    "topology": ("Topology",),
    "trace": ("JobTrace", "read_events", "read_trace", "write_trace"),
}
"""What comes from which module of this package."""


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            from importlib import import_module

            value: object = getattr(import_module(f"{__name__}.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
