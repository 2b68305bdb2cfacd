"""One topology under one set of assumptions, and what of a trace can be replayed on it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from policy_engine.assumptions import Assumptions
from policy_engine.scheduler import Outcome, replay
from policy_engine.topology import Team, Topology
from policy_engine.trace import (
    ControlEvent,
    JobTrace,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
    training_plan_events,
)
from policy_engine.trace.jobs import Bool

_OTHERS = ""
"""The team of shares that only other topologies have, in `union`: a name that none can have."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What a trace is replayed on."""

    label: str
    """What reports call it, such as its file's name."""
    topology: Topology
    assumptions: Assumptions | None = None
    """None: those of the topology."""
    moved: Mapping[str, str] = field(default_factory=dict)
    """Shares of the trace that the topology lacks, and the share that their jobs are submitted to instead."""

    @property
    def assumed(self) -> Assumptions:
        """The assumptions that it is replayed under."""
        return self.topology.assumptions if self.assumptions is None else self.assumptions


def replay_variant(
    variant: Variant,
    trace: JobTrace,
    *,
    events: Sequence[ControlEvent] = (),
    until: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> Outcome:
    """Replay what of a trace can be submitted to a variant's topology, with what its training plans do.

    Jobs of shares that it lacks are left out, unless they are `moved`; so are events that name a share, job or instance
    type which is not there. `until` (ms) stops the replay.
    """
    fitting = trace_for(variant, trace)
    control = tuple(_fitting(events, variant.topology, fitting))
    return replay(
        variant.topology,
        fitting,
        events=(*training_plan_events(variant.topology, trace.epoch), *control),
        assumptions=variant.assumed,
        until=until,
        on_progress=on_progress,
    )


def trace_for(variant: Variant, trace: JobTrace) -> JobTrace:
    """The jobs that can be submitted to a variant's topology."""
    known = {owned.name for owned in variant.topology.quota_shares()}
    targets = [name if name in known else variant.moved.get(name, name) for name in trace.share_names]
    if targets == list(trace.share_names) and known.issuperset(targets):
        return trace
    names = tuple(dict.fromkeys(target for target in targets if target in known))
    number = np.array([names.index(target) if target in names else -1 for target in targets], dtype=np.int32)
    share = number[trace.share]
    return _rows(replace(trace, share_names=names, share=share), share >= 0)


def left_out(variant: Variant, trace: JobTrace) -> dict[str, int]:
    """How many jobs of which shares of the trace cannot be submitted to the variant's topology."""
    known = {owned.name for owned in variant.topology.quota_shares()}
    counts = np.bincount(trace.share, minlength=len(trace.share_names))
    return {
        name: int(count)
        for name, count in zip(trace.share_names, counts, strict=True)
        if count and variant.moved.get(name, name) not in known and name not in known
    }


def union(topologies: Iterable[Topology]) -> Topology:
    """The first topology with the shares and instance types of all others: to check names against, nothing else."""
    first, *others = topologies
    known = {owned.name for owned in first.quota_shares()}
    extra = {owned.name: owned.share for other in others for owned in other.quota_shares() if owned.name not in known}
    capacity = {unit: entry for each in (*others, first) for unit, entry in each.written_capacity.items()}
    teams = {**first.teams, **({_OTHERS: Team(shares=extra)} if extra else {})}
    return first.model_copy(update={"teams": teams, "written_capacity": capacity})


def _rows(trace: JobTrace, kept: Bool) -> JobTrace:
    return replace(
        trace,
        job_id=trace.job_id.filter(kept),
        share=trace.share[kept],
        need=trace.need[kept],
        submitted_at=trace.submitted_at[kept],
        runtime=trace.runtime[kept],
        priority=trace.priority[kept],
        preemption_retries=trace.preemption_retries[kept],
        checkpoint=trace.checkpoint[kept],
        attempt_timeout=trace.attempt_timeout[kept],
        fails=trace.fails[kept],
    )


def _fitting(events: Iterable[ControlEvent], topology: Topology, trace: JobTrace) -> Iterator[ControlEvent]:
    """The events that name what is there."""
    jobs = frozenset(trace.job_id) if any(isinstance(event, UpdatePriority | Terminate) for event in events) else ()
    shares = {owned.name for owned in topology.quota_shares()}
    units = set(topology.units())
    for event in events:
        match event:
            case UpdatePriority() | Terminate():
                fits = event.job in jobs
            case UpdateShare():
                fits = event.share in shares and units.issuperset(event.limits or ())
            case SetShareState():
                fits = event.share in shares
            case UpdateCapacity() | Unavailable():
                fits = event.unit in units
        if fits:
            yield event
