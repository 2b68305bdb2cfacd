"""What a topology's limits add up to. Counts configured limits, not what is idle at some moment."""

from collections import Counter
from collections.abc import Iterator, Mapping

from policy_engine.assumptions import UnallocatedCapacity
from policy_engine.rules.units import is_instance_type
from policy_engine.topology.model import QuotaShare, ResourceSharingStrategy, Topology


def limit(capacity: Mapping[str, int], unit: str) -> int:
    """Instances of a unit, with 0 for what is left out and for numbers that make no sense."""
    return max(0, capacity.get(unit, 0))


def listed(items: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)


class Amounts:
    """Sums over the quota shares of a topology, by unit."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._limits: Counter[str] = Counter()
        self._reserved: Counter[str] = Counter()
        self._lent: Counter[str] = Counter()
        self._borrowers: Counter[str] = Counter()
        for owned in topology.quota_shares():
            for unit, own in limits(owned.share):
                self._limits[unit] += own
                self._reserved[unit] += own * (owned.share.strategy is ResourceSharingStrategy.RESERVE)
                self._lent[unit] += own * owned.share.strategy.lends
                self._borrowers[unit] += owned.share.borrow_cap(unit) != 0

    def capacity(self, unit: str) -> int:
        """Instances in the service environment."""
        return limit(self._topology.capacity, unit)

    def allocated(self, unit: str) -> int:
        """The limits of all shares together."""
        return self._limits[unit]

    def reserved(self, unit: str) -> int:
        """The limits of all RESERVE shares together."""
        return self._reserved[unit]

    def lent_to(self, share: QuotaShare, unit: str) -> int:
        """The limits of all the other shares that lend: the most that a share of the topology could ever borrow.

        Capacity in no share's limit is part of it only if the topology assumes so.
        """
        own = limit(share.capacity, unit) if share.strategy.lends else 0
        return self._lent[unit] - own + self._unallocated(unit)

    def others_borrow(self, share: QuotaShare, unit: str) -> bool:
        """Whether another share of the topology may borrow instances of a unit that this share has a limit for."""
        return self._borrowers[unit] > (share.borrow_cap(unit) != 0)

    def _unallocated(self, unit: str) -> int:
        if self._topology.assumptions.unallocated_capacity is not UnallocatedCapacity.BORROWABLE:
            return 0
        return max(0, self.capacity(unit) - self._limits[unit])


def limits(share: QuotaShare) -> Iterator[tuple[str, int]]:
    """The capacity limits of a share that SageMaker has instances for."""
    return ((unit, own) for unit, own in share.capacity.items() if own > 0 and is_instance_type(unit))
