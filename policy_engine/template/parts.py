"""What the parts of a quota-managed queue have to be.

Source: "Quota management" and "Service limits" in the AWS Batch user guide.
"""

from collections.abc import Iterable, Iterator

from policy_engine.diagnostics import Severity
from policy_engine.template.nodes import ResourceId
from policy_engine.template.problems import TemplateProblem, at
from policy_engine.template.queues import QueueResources
from policy_engine.topology.reading_errors import ReadingError


def part_problems(queues: Iterable[QueueResources]) -> Iterator[TemplateProblem]:
    """Queues with shares whose scheduling policy is missing or of another kind, and environments of two queues."""
    taken: set[ResourceId] = set()
    for resources in queues:
        yield from _policy_problems(resources)
        environment = resources.environment
        if environment is None or resources.queue.condition is not None:
            continue
        if environment.id in taken:
            named = resources.queue.get("ServiceEnvironmentOrder")
            yield TemplateProblem(
                ReadingError.WRONG_VALUE,
                "the service environment is another quota-managed queue's already; AWS allows one queue each",
                "give this queue a service environment of its own",
                resources.queue.place if named is None else at(named),
            )
        taken.add(environment.id)


def _policy_problems(resources: QueueResources) -> Iterator[TemplateProblem]:
    """AWS documents what a queue needs; what it does with shares of one that lacks it is not: so a warning."""
    queue, policy = resources.queue, resources.policy
    if queue.get("SchedulingPolicyArn") is None:
        yield TemplateProblem(
            ReadingError.MISSING_KEY,
            "the queue has quota shares, and no scheduling policy, which quota management needs",
            "add the property SchedulingPolicyArn, of a policy with a QuotaSharePolicy",
            queue.place,
            Severity.WARNING,
        )
    elif policy is not None and policy.get("QuotaSharePolicy") is None:
        yield TemplateProblem(
            ReadingError.MISSING_KEY,
            "the policy of a queue with quota shares has no QuotaSharePolicy, which quota management needs",
            "make another policy with a QuotaSharePolicy: AWS lets nobody change a policy's kind",
            policy.place,
            Severity.WARNING,
        )
