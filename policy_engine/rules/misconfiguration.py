"""Whether a job could ever run: the tests that AWS publishes, against the configuration alone.

Source: "Jobs stuck in RUNNABLE due to misconfiguration" in the AWS Batch user guide. That a unit without a limit cannot
be borrowed, and that the tests are made in this order, is inferred.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from policy_engine.rules.amounts import Amounts, limit
from policy_engine.rules.units import is_instance_type
from policy_engine.topology.model import QuotaShare
from policy_engine.topology.status_reasons import ABOVE_BORROW_LIMIT, ABOVE_BORROWABLE, ABOVE_ENVIRONMENT, ABOVE_LIMIT


@dataclass(frozen=True, slots=True)
class Misconfiguration:
    """Why a job can never run."""

    unit: str
    """The instance type that it needs too many of."""
    bound: str
    """How many it could have at most, in words."""
    help: str
    status_reason: str
    """The text that AWS shows while the job is stuck."""


def largest_need(share: QuotaShare) -> dict[str, int]:
    """What the share's largest job needs of the instance types that SageMaker has. Empty if none is declared."""
    return {unit: count for unit, count in (share.largest_job or {}).items() if is_instance_type(unit)}


def misconfiguration(amounts: Amounts, share: QuotaShare, need: Mapping[str, int]) -> Misconfiguration | None:
    """Why a job of a share could never run, by the first of the four tests that it fails. None: it could."""
    for test in (_above_environment, _above_limit, _above_borrow_limit, _above_borrowable):
        for unit, count in need.items():
            failed = test(amounts, share, unit, count)
            if failed:
                return failed
    return None


def _above_environment(amounts: Amounts, share: QuotaShare, unit: str, count: int) -> Misconfiguration | None:
    there = amounts.capacity(unit)
    if count <= there:
        return None
    bound = f"the environment has {there}"
    return Misconfiguration(unit, bound, f"raise the environment's capacity to {count} {unit}", ABOVE_ENVIRONMENT)


def _above_limit(amounts: Amounts, share: QuotaShare, unit: str, count: int) -> Misconfiguration | None:
    own = limit(share.capacity, unit)
    if share.strategy.borrows or count <= own:
        return None
    bound = f"the share has {own} and does not borrow"
    return Misconfiguration(unit, bound, f"raise the share's limit to {count} {unit}", ABOVE_LIMIT)


def _above_borrow_limit(amounts: Amounts, share: QuotaShare, unit: str, count: int) -> Misconfiguration | None:
    own, cap = limit(share.capacity, unit), share.borrow_cap(unit)
    if not share.strategy.borrows or cap is None or count <= own + cap:
        return None
    if not own:
        mend = f"give the share a limit for {unit}"
        return Misconfiguration(unit, "the share has no limit for it, so it borrows none", mend, ABOVE_BORROW_LIMIT)
    percent = -(-100 * (count - own) // own)
    bound = f"the share has {own} and may borrow {cap} ({share.borrow_percent} %)"
    mend = f"write borrow_limit: {percent}, or raise the share's limit to {count} {unit}"
    return Misconfiguration(unit, bound, mend, ABOVE_BORROW_LIMIT)


def _above_borrowable(amounts: Amounts, share: QuotaShare, unit: str, count: int) -> Misconfiguration | None:
    own, lent = limit(share.capacity, unit), amounts.lent_to(share, unit)
    if not share.strategy.borrows or count <= own + lent:
        return None
    bound = f"the share has {own}, and the other shares lend {lent}"
    mend = f"raise the share's limit to {count - lent} {unit}, or let other shares lend {count - own}"
    return Misconfiguration(unit, bound, mend, ABOVE_BORROWABLE)
