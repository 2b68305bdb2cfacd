"""A whole team topology as resources: scheduling policy, service environment, job queue and quota shares."""

from collections.abc import Mapping
from types import MappingProxyType

from aws_cdk import Duration
from constructs import Construct

from batch_quota.quota_share import QuotaShare
from batch_quota.scheduling_policy import QuotaShareSchedulingPolicy
from batch_quota.service_environment import ServiceEnvironment
from batch_quota.training_queue import RunnableTimeLimit, SageMakerTrainingQueue
from policy_engine.topology import OwnedShare, Topology

TEAM_TAG = "batch-quota:team"


class QuotaManagedQueue(Construct):
    """All resources of a team topology.

    Logical ids depend on the construct's own path and on share names alone. Moving a share to another team, renaming a
    team, or writing the file in another order changes tags at most.
    """

    def __init__(self, scope: Construct, id_: str, *, topology: Topology) -> None:
        """Make the resources of a topology.

        :param topology: A valid one: `policy_engine.rules` says more about it than the constructs can.
        :raises ValueError: If AWS would refuse a resource, with the construct's path and every problem of it.
        """
        super().__init__(scope, id_)
        self._topology = topology
        queue = topology.queue
        self._scheduling_policy = QuotaShareSchedulingPolicy(
            self, "SchedulingPolicy", scheduling_policy_name=topology.scheduling_policy_name, tags=queue.tags
        )
        self._service_environment = ServiceEnvironment(
            self,
            "ServiceEnvironment",
            service_environment_name=topology.service_environment_name,
            capacity_limits=_in_order(topology.capacity),
            tags=queue.tags,
        )
        self._queue = SageMakerTrainingQueue(
            self,
            "Queue",
            job_queue_name=topology.queue_name,
            service_environment=self._service_environment,
            scheduling_policy=self._scheduling_policy,
            priority=queue.priority,
            time_limits=[
                RunnableTimeLimit(reason=limit.reason, max_time=Duration.millis(limit.after))
                for limit in sorted(queue.time_limits, key=lambda limit: limit.reason)
            ],
            tags=queue.tags,
        )
        shares = Construct(self, "Shares")
        self._quota_shares = {
            owned.name: self._make_share(shares, owned)
            for owned in sorted(topology.quota_shares(), key=lambda owned: owned.name)
        }

    def _make_share(self, scope: Construct, owned: OwnedShare) -> QuotaShare:
        share = owned.share
        return QuotaShare(
            scope,
            owned.name,
            job_queue=self._queue,
            quota_share_name=owned.name,
            capacity_limits=_in_order(share.capacity),
            strategy=share.strategy,
            borrow_limit=share.borrow_limit,
            in_share_preemption=share.in_share_preemption,
            state=share.state,
            tags={TEAM_TAG: owned.team, **self._topology.teams[owned.team].tags, **share.tags},
        )

    @property
    def topology(self) -> Topology:
        """What the resources were made from."""
        return self._topology

    @property
    def scheduling_policy(self) -> QuotaShareSchedulingPolicy:
        """The scheduling policy."""
        return self._scheduling_policy

    @property
    def service_environment(self) -> ServiceEnvironment:
        """The service environment."""
        return self._service_environment

    @property
    def queue(self) -> SageMakerTrainingQueue:
        """The job queue."""
        return self._queue

    @property
    def quota_shares(self) -> Mapping[str, QuotaShare]:
        """The quota shares by name."""
        return MappingProxyType(self._quota_shares)


def _in_order(capacity: Mapping[str, int]) -> dict[str, int]:
    """By instance type, so that the order in the topology file never shows as a change of the template."""
    return dict(sorted(capacity.items()))
