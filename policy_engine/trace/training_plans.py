"""What training plans do to the environment's capacity while a trace runs."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from policy_engine.topology import Topology
from policy_engine.topology.capacity import CapacityEntry
from policy_engine.trace.events import UpdateCapacity

_UNIX = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


def has_training_plans(topology: Topology) -> bool:
    """Whether training plans back any of the environment's capacity."""
    return any(entry.plan is not None for entry in topology.capacity_entries())


def training_plan_events(topology: Topology, epoch: int | None) -> tuple[UpdateCapacity, ...]:
    """The updates of the environment's capacity that its training plans ask for, by time.

    As if the owner updated the environment at each plan's start, and when SageMaker begins to take its instances back,
    30 minutes before its end. `epoch` is when the trace starts, in ms since 1970-01-01 UTC; without one nothing can be
    said, and the most that is there at once is taken to be there all the time. Batch itself knows of no plan and
    changes nothing. Where they are replayed with other events, they come first: `events=(*plans, *others)`.
    """
    if epoch is None:
        return ()
    entries: dict[str, list[CapacityEntry]] = {}
    for entry in topology.capacity_entries():
        entries.setdefault(entry.unit, []).append(entry)
    declared = topology.capacity
    updates = (update for unit, of_unit in entries.items() for update in _updates(unit, of_unit, declared[unit], epoch))
    return tuple(sorted(updates, key=lambda update: update.at))


def _updates(unit: str, entries: list[CapacityEntry], declared: int, epoch: int) -> Iterator[UpdateCapacity]:
    plans = [entry.plan for entry in entries if entry.plan is not None]
    changes = {_since(epoch, at) for plan in plans for at in (plan.starts_at, plan.reclaimed_at)}
    there = declared
    for at in sorted({0, *(change for change in changes if change > 0)} if plans else ()):
        now = _UNIX + (epoch + at) * _MILLISECOND
        capacity = sum(entry.count for entry in entries if entry.plan is None or entry.plan.is_there_at(now))
        if capacity != there:
            yield UpdateCapacity(at=at, unit=unit, capacity=capacity)
            there = capacity


def _since(epoch: int, at: datetime) -> int:
    """Ms since the trace's start, rounded up: nothing is taken for there before it is."""
    return -((_UNIX - at) // _MILLISECOND) - epoch
