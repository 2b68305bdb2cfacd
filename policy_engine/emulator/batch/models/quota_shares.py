"""Quota shares of a job queue."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.capacity_limits import CapacityLimit, check_capacity_limits
from policy_engine.emulator.batch.exceptions import NotFoundError
from policy_engine.emulator.batch.lifecycle import Lifecycle
from policy_engine.emulator.batch.models.base import named
from policy_engine.emulator.batch.models.job_queues import JobQueueBackend, TrainingQueue
from policy_engine.emulator.batch.paging import page
from policy_engine.emulator.batch.validation import check_name
from policy_engine.emulator.queue_history import ShareTerms
from policy_engine.topology import UNLIMITED, ResourceSharingStrategy
from policy_engine.topology.service_limits import MAX_QUOTA_SHARES


class ResourceSharing(TypedDict):
    """QuotaShareResourceSharingConfiguration of the API."""

    strategy: str
    borrowLimit: NotRequired[int]


class Preemption(TypedDict):
    """QuotaSharePreemptionConfiguration of the API."""

    inSharePreemption: str


@dataclass(eq=False)
class QuotaShare:
    """A quota share."""

    number: int
    name: str
    arn: str
    queue: TrainingQueue
    limits: dict[str, int]
    sharing: ResourceSharing
    preemption: Preemption
    state: str
    lifecycle: Lifecycle

    @property
    def terms(self) -> ShareTerms:
        """The share as the scheduler takes it."""
        strategy = ResourceSharingStrategy(self.sharing["strategy"])
        return ShareTerms(
            limits=self.limits,
            strategy=strategy,
            borrow_limit=self.sharing.get("borrowLimit", UNLIMITED) if strategy.borrows else 0,
            in_share_preemption=self.preemption["inSharePreemption"] == "ENABLED",
        )

    def describe(self) -> dict[str, Any]:
        """QuotaShareDetail of the API."""
        return {
            "quotaShareName": self.name,
            "quotaShareArn": self.arn,
            "jobQueueArn": self.queue.arn,
            "capacityLimits": [{"maxCapacity": most, "capacityUnit": unit} for unit, most in self.limits.items()],
            "resourceSharingConfiguration": dict(self.sharing),
            "preemptionConfiguration": dict(self.preemption),
            "state": self.state,
            "status": self.lifecycle.status,
        }


class QuotaShareBackend(JobQueueBackend):
    """Create-, Describe-, Update-, List- and DeleteQuotaShare."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._quota_shares: dict[str, QuotaShare] = {}
        self._quota_shares_made = 0

    def quota_shares_of(self, queue: TrainingQueue) -> list[QuotaShare]:
        """The shares of a queue, in order of creation."""
        return [share for share in self.present(self._quota_shares) if share.queue is queue]

    def get_quota_share(self, arn: str) -> QuotaShare:
        """By ARN. Raises NotFoundError."""
        share = next((share for share in self.present(self._quota_shares) if share.arn == arn), None)
        if share is None:
            raise NotFoundError("Quota share", arn)
        return share

    def create_quota_share(
        self,
        *,
        name: str,
        queue_identifier: str,
        capacity_limits: Sequence[CapacityLimit],
        sharing: ResourceSharing,
        preemption: Preemption,
        state: str | None,
        tags: dict[str, str] | None,
    ) -> QuotaShare:
        """Create a share, ENABLED unless told otherwise. The scheduler knows it at once."""
        check_name("quotaShareName", name)
        limits = check_capacity_limits(capacity_limits, least=1, may_count_all=False)
        _check_sharing(sharing)
        queue = self.get_training_queue(queue_identifier)
        others = self.quota_shares_of(queue)
        if named(others, name):
            raise ClientException(f"Quota share {name} already exists in the job queue {queue.name}")
        if queue.lifecycle.status != "VALID":
            raise ClientException(f"Job queue {queue.name} must be VALID before a quota share can be attached to it")
        if len(others) >= MAX_QUOTA_SHARES:
            raise ClientException(f"a job queue has at most {MAX_QUOTA_SHARES} quota shares")
        self._quota_shares_made += 1
        share = QuotaShare(
            number=self._quota_shares_made,
            name=name,
            arn=f"{queue.arn}/quota-share/{name}",
            queue=queue,
            limits=limits,
            sharing=_complete(sharing),
            preemption=preemption,
            state=state or "ENABLED",
            lifecycle=Lifecycle(self.emulation),
        )
        self._quota_shares[share.arn] = share
        self.tag_resource(share.arn, tags or {})
        queue.history.set_share(name, share.terms, self.now)
        return share

    def list_quota_shares(
        self, *, queue_identifier: str, max_results: int | None, token: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """A page of a queue's shares."""
        shares = self.quota_shares_of(self.get_training_queue(queue_identifier))
        shown, next_token = page(shares, lambda share: share.number, max_results, token)
        return [share.describe() for share in shown], next_token

    def update_quota_share(
        self,
        *,
        arn: str,
        capacity_limits: Sequence[CapacityLimit] | None,
        sharing: ResourceSharing | None,
        preemption: Preemption | None,
        state: str | None,
    ) -> QuotaShare:
        """Replace what is given, at once."""
        share = self.get_quota_share(arn)
        if share.lifecycle.status == "DELETING":
            raise ClientException(f"Quota share {share.name} is being deleted")
        limits = share.limits
        if capacity_limits is not None:
            limits = check_capacity_limits(capacity_limits, least=1, may_count_all=False)
        if sharing is not None:
            _check_sharing(sharing)
            share.sharing = _complete(sharing)
        share.limits = limits
        share.preemption = preemption or share.preemption
        share.state = state or share.state
        share.lifecycle.update()
        share.queue.history.set_share(share.name, share.terms, self.now)
        return share

    def delete_quota_share(self, arn: str) -> None:
        """Delete a share that is DISABLED. Its limits are gone at once. Repeating it does nothing."""
        share = self.get_quota_share(arn)
        if share.state != "DISABLED":
            raise ClientException(f"Quota share {share.name} must be DISABLED before it can be deleted")
        if share.lifecycle.status == "CREATING":
            raise ClientException(f"Quota share {share.name} is still being created")
        if share.lifecycle.status != "DELETING":
            share.lifecycle.delete()
            share.queue.history.remove_share(share.name, self.now)

    def delete_training_queue(self, queue: TrainingQueue) -> None:
        """Delete a queue that is DISABLED and has no shares."""
        shares = self.quota_shares_of(queue)
        if queue.state == "DISABLED" and shares:
            raise ClientException(f"Job queue {queue.name} has the quota share {shares[0].name}, and cannot be deleted")
        super().delete_training_queue(queue)


def _check_sharing(sharing: ResourceSharing) -> None:
    limit = sharing.get("borrowLimit")
    if limit is None:
        return
    if not ResourceSharingStrategy(sharing["strategy"]).borrows:
        raise ClientException(f"borrowLimit can only be applied to LEND_AND_BORROW, not to {sharing['strategy']}")
    if limit < UNLIMITED:
        raise ClientException(f"borrowLimit must be {UNLIMITED} or more, not {limit}")


def _complete(sharing: ResourceSharing) -> ResourceSharing:
    """With the borrow limit that AWS takes if there is none."""
    if not ResourceSharingStrategy(sharing["strategy"]).borrows:
        return {"strategy": sharing["strategy"]}
    return {"strategy": sharing["strategy"], "borrowLimit": sharing.get("borrowLimit", UNLIMITED)}
