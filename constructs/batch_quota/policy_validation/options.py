"""Which traces are replayed at synthesis, and what the replays must show."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from constructs import IConstruct

from policy_engine.template import TemplateQueue

TRACE_CONTEXT = "batch-quota:trace"
"""Context key: the path of a trace for the app's only queue, or paths by the names of topologies or queues."""
EVENTS_CONTEXT = "batch-quota:events"
"""Context key: the same for control events."""
BASELINE_CONTEXT = "batch-quota:baseline"
"""Context key: the same for topologies that expectations are relative to."""
PRICES_CONTEXT = "batch-quota:prices"
"""Context key: the same for prices of instances."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TraceReplay:
    """A trace to replay on a queue at synthesis."""

    trace: str
    """Path of a native trace. Relative paths start at the working directory."""
    events: str | None = None
    """Path of control events."""
    expectations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What the replay must show, as a topology says it: bounds of metrics by share, team or `queue`.

    Added to those of the topology that the queue was made from, if it was made from one.
    """
    assumptions: Mapping[str, Any] = field(default_factory=dict)
    """Departures from the assumptions of the scheduling model, as a topology says them."""
    baseline: str | None = None
    """Path of the topology that bounds such as `<= baseline * 1.1` are relative to. Without it they are not judged."""
    prices: str | None = None
    """Path of prices of instances, which bounds on costs need."""


@dataclass(frozen=True, slots=True)
class Replays:
    """The replays of an app, by the queue's or the topology's name; under None the one for the app's only queue."""

    by_name: Mapping[str | None, TraceReplay]

    def of(self, queue: TemplateQueue) -> TraceReplay | None:
        """The replay for a queue."""
        names = (queue.topology.name, queue.name, None)
        return next((self.by_name[name] for name in names if name in self.by_name), None)

    def problem(self, queues: tuple[TemplateQueue, ...]) -> str | None:
        """What is wrong with the names, given the queues there are."""
        known = {name for queue in queues for name in (queue.topology.name, queue.name)}
        unknown = [name for name in self.by_name if name is not None and name not in known]
        there = ", ".join(sorted({queue.topology.name for queue in queues})) or "none"
        if unknown:
            return f"a trace is given for {unknown[0]!r}; the app's quota-managed queues are: {there}"
        if None in self.by_name and len({queue.topology.name for queue in queues}) != 1:
            return f"a trace is given without the name of its queue; the app's quota-managed queues are: {there}"
        return None


def replays_of(given: TraceReplay | Mapping[str, TraceReplay] | None, app: IConstruct) -> Replays:
    """What is given to the plugin, with the paths that the app's context has instead."""
    by_name: dict[str | None, TraceReplay] = {}
    if isinstance(given, TraceReplay):
        by_name[None] = given
    elif given is not None:
        by_name.update(given)
    for name, path in _paths(app.node.try_get_context(TRACE_CONTEXT)).items():
        by_name[name] = replace(by_name.get(name) or TraceReplay(trace=path), trace=path, events=None)
    events, baselines, prices = (
        _paths(app.node.try_get_context(key)) for key in (EVENTS_CONTEXT, BASELINE_CONTEXT, PRICES_CONTEXT)
    )
    for name, replay in by_name.items():
        by_name[name] = replace(
            replay,
            events=events.get(name, replay.events),
            baseline=baselines.get(name, replay.baseline),
            prices=prices.get(name, replay.prices),
        )
    return Replays(by_name)


def _paths(context: object) -> Mapping[str | None, str]:
    if isinstance(context, Mapping):
        return {str(name): str(path) for name, path in context.items()}
    return {} if not context else {None: str(context)}
