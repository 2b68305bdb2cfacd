"""Capacity limits of service environments and quota shares: what of them is allowed."""

import re
from collections.abc import Sequence
from typing import NotRequired, TypedDict

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.validation import check_range
from policy_engine.topology.service_limits import MAX_CAPACITY_LIMITS

NUM_INSTANCES = "NUM_INSTANCES"
"""The capacity unit of service environments without quota management."""
_INSTANCE_TYPE = re.compile(r"ml\.[a-z0-9-]+\.[a-z0-9-]+")
_MOST = 2**31 - 1


class CapacityLimit(TypedDict):
    """CapacityLimit and QuotaShareCapacityLimit of the API."""

    maxCapacity: NotRequired[int]
    capacityUnit: NotRequired[str]


def check_capacity_limits(limits: Sequence[CapacityLimit], *, least: int, may_count_all: bool) -> dict[str, int]:
    """Check limits, each at least `least`. `may_count_all`: NUM_INSTANCES is allowed, alone. Raises ClientException."""
    if not 1 <= len(limits) <= MAX_CAPACITY_LIMITS:
        raise ClientException(f"capacityLimits must have 1 to {MAX_CAPACITY_LIMITS} entries, not {len(limits)}")
    checked: dict[str, int] = {}
    for index, limit in enumerate(limits):
        unit, most = limit.get("capacityUnit"), limit.get("maxCapacity")
        if unit is None or most is None:
            raise ClientException(f"capacityLimits[{index}] needs capacityUnit and maxCapacity")
        check_range(f"capacityLimits[{index}].maxCapacity", most, least, _MOST)
        if unit in checked:
            raise ClientException(f"capacityLimits has {unit} twice")
        counts_all = unit == NUM_INSTANCES
        if (counts_all and not may_count_all) or not (counts_all or _INSTANCE_TYPE.fullmatch(unit)):
            raise ClientException(
                f"capacityLimits[{index}].capacityUnit must be an instance type such as ml.g5.xlarge, "
                f"not {unit[:100]!r}"
            )
        checked[unit] = most
    if NUM_INSTANCES in checked and len(checked) > 1:
        raise ClientException(f"capacityLimits cannot have {NUM_INSTANCES} and instance types")
    return checked
