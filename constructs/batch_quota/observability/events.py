"""EventBridge rules on what AWS Batch says of the service jobs of a queue."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from constructs import Construct

from batch_quota.validation import require

QUEUE_BLOCKED = "Batch Service Job Queue Blocked"
STATE_CHANGE = "Batch Service Job State Change"

_RAN_BEFORE = [
    {"latestAttempt": {"serviceResourceId": {"value": [{"exists": True}]}}},
    {"attempts": {"serviceResourceId": {"value": [{"exists": True}]}}},
    {"preemptionSummary": {"preemptedAttemptCount": [{"exists": True}]}},
]
_WAITS_FOR_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"


@dataclass(frozen=True, kw_only=True, slots=True)
class EventRule:
    """Where the events of a rule go."""

    targets: Sequence[events.IRuleTarget] | None = None
    """The topic if left out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EventOptions:
    """Which events of a queue are passed on, and where to. None turns a rule off."""

    queue_blocked: EventRule | None = field(default_factory=EventRule)
    """A job that can't run is at the front and blocks it. The event's statusReason says why."""

    returned_to_runnable: EventRule | None = field(default_factory=EventRule)
    """A job that was dispatched is RUNNABLE again: preempted, or to be retried. See `QueueEvents`."""

    @property
    def need_topic(self) -> bool:
        """Whether a rule has no targets of its own."""
        return any(
            rule is not None and rule.targets is None for rule in (self.queue_blocked, self.returned_to_runnable)
        )


class QueueEvents(Construct):
    """Rules on the events `Batch Service Job Queue Blocked` and `Batch Service Job State Change` of a queue.

    AWS Batch has no event of a preemption: a preempted job returns to RUNNABLE, and so does one that is retried. The
    second rule passes on jobs that are RUNNABLE and bear a sign of an earlier attempt. It leaves out those whose
    statusReason says that SageMaker had no instances, since AWS Batch retries them on its own. What is left is a
    preemption, or a retry by the job's retry strategy; `detail.preemptionSummary` is expected in the former, as
    DescribeServiceJob has it, but AWS does not document it for events. The metric JobsPreempted counts preemptions
    alone. AWS delivers events at least once.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        job_queue_arn: str,
        topic: sns.ITopic | None = None,
        options: EventOptions | None = None,
    ) -> None:
        """Make the rules.

        :param job_queue_arn: ARN of the queue whose events are passed on.
        :param topic: Where events go that have no targets of their own. A topic that is imported must let
            events.amazonaws.com publish to it, without conditions: EventBridge fulfils none (EventBridge user guide).
        :param options: Both rules to the topic if left out.
        :raises ValueError: If a rule needs the topic, and there is none.
        """
        options = options or EventOptions()
        require(scope, id_, ["topic: a rule without targets of its own needs one"] * (options.need_topic and not topic))
        super().__init__(scope, id_)
        default = [] if topic is None else [targets.SnsTopic(topic)]
        self._rules: dict[str, events.Rule] = {}
        if options.queue_blocked is not None:
            self._rules["queue_blocked"] = events.Rule(
                self,
                "QueueBlocked",
                description="A service job blocks the front of the AWS Batch queue",
                event_pattern=events.EventPattern(
                    source=["aws.batch"], detail_type=[QUEUE_BLOCKED], detail={"jobQueue": [job_queue_arn]}
                ),
                targets=default if options.queue_blocked.targets is None else options.queue_blocked.targets,
            )
        if options.returned_to_runnable is not None:
            self._rules["returned_to_runnable"] = events.Rule(
                self,
                "ReturnedToRunnable",
                description="A dispatched service job of the AWS Batch queue is RUNNABLE again: preempted or retried",
                event_pattern=events.EventPattern(
                    source=["aws.batch"],
                    detail_type=[STATE_CHANGE],
                    detail={
                        "jobQueue": [job_queue_arn],
                        "status": ["RUNNABLE"],
                        "statusReason": [{"exists": False}, {"anything-but": {"prefix": _WAITS_FOR_CAPACITY}}],
                        "$or": _RAN_BEFORE,
                    },
                ),
                targets=(
                    default if options.returned_to_runnable.targets is None else options.returned_to_runnable.targets
                ),
            )

    @property
    def queue_blocked(self) -> events.Rule | None:
        """The rule on blocked queues."""
        return self._rules.get("queue_blocked")

    @property
    def returned_to_runnable(self) -> events.Rule | None:
        """The rule on jobs that are RUNNABLE again."""
        return self._rules.get("returned_to_runnable")

    @cached_property
    def rule_names(self) -> Mapping[str, str]:
        """Names of the rules that were made, by the names of their options."""
        return MappingProxyType({name: rule.rule_name for name, rule in self._rules.items()})
