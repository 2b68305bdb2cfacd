"""QM404: queues that go away."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class QueueRemoved(ChangeRule):
    """Queue that is removed, with all its jobs.

    ## What it checks

    That no queue is removed.

    ## Why it matters

    All jobs of all its shares are terminated, the waiting and the running ones.

    ## Example

    ```yaml
    before:
      Resources: &old
        Policy:
          Type: AWS::Batch::SchedulingPolicy
          Properties:
            QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}
        Environment:
          Type: AWS::Batch::ServiceEnvironment
          Properties:
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 8}]
        Queue:
          Type: AWS::Batch::JobQueue
          Properties:
            JobQueueType: SAGEMAKER_TRAINING
            SchedulingPolicyArn: {Ref: Policy}
            ServiceEnvironmentOrder:
              - {Order: 1, ServiceEnvironment: {Ref: Environment}}
    after:
      Resources: {}
    ```

    ## Use instead

    ```yaml
    before:
      Resources: &old
        Policy:
          Type: AWS::Batch::SchedulingPolicy
          Properties:
            QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}
        Environment:
          Type: AWS::Batch::ServiceEnvironment
          Properties:
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 8}]
        Queue:
          Type: AWS::Batch::JobQueue
          Properties:
            JobQueueType: SAGEMAKER_TRAINING
            SchedulingPolicyArn: {Ref: Policy}
            ServiceEnvironmentOrder:
              - {Order: 1, ServiceEnvironment: {Ref: Environment}}
    after:
      Resources: *old
    ```

    ## References

    - Documented: [DeleteJobQueue](https://docs.aws.amazon.com/batch/latest/APIReference/API_DeleteJobQueue.html):
      deleting a queue terminates its jobs in the end.
    """

    id = "QM404"
    severity = Severity.ERROR

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """The queue, if it is removed and not retained."""
        queue = change.queue
        if change.new is None and queue is not None and queue.action == "remove" and not queue.retained:
            yield self.at_old(
                change,
                queue,
                f"queue {described(queue.name)} is removed: "
                "all jobs of all its shares are terminated, running and waiting",
                f"disable it and wait until it has no jobs; then accept this with --accept {self.id}@{queue.name}",
            )
