"""QM110: the range of queue priorities."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_QUEUE_PRIORITY


class QueuePriority(TopologyRule):
    """Queue priority outside 0 to 1000.

    ## What it checks

    That the queue's `priority` is from 0 to 1000.

    ## Why it matters

    AWS refuses others, and the deployment would fail. The number matters little: it orders queues that use one service
    environment, and an environment with quota management serves one queue.

    ## Example

    ```yaml
    queue: {priority: 9999}
    ```

    ## Use instead

    ```yaml
    queue: {priority: 10}
    ```

    ## References

    - Documented:
      [AWS::Batch::JobQueue](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-jobqueue.html)
      and [Create quota management
      resources](https://docs.aws.amazon.com/batch/latest/userguide/create-quota-management-resources.html): 0 to 1000.
    - Documented: [AWS Batch service quotas](https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html):
      one queue for each service environment with quota management.
    """

    id = "QM110"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The queue's priority."""
        priority = topology.queue.priority
        if not 0 <= priority <= MAX_QUEUE_PRIORITY:
            yield Problem(
                ("queue", "priority"),
                f"the queue has priority {priority}; AWS expects 0 to {MAX_QUEUE_PRIORITY}",
                "leave it out: the queue has its service environment for itself, so its priority orders nothing",
            )
