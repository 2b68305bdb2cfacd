"""QM405: queues that move to another service environment."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule, Problem, Spot

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class EnvironmentChanged(ChangeRule):
    """Queue that moves to another service environment.

    ## What it checks

    That a queue that stays keeps its service environment.

    ## Why it matters

    AWS does not say what becomes of running jobs when the environment under a queue with live shares is swapped.
    The old environment can be deleted only once no queue uses it. Another name is another environment.

    ## Example

    ```yaml
    before:
      Resources:
        Policy: &policy
          Type: AWS::Batch::SchedulingPolicy
          Properties:
            QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}
        Environment:
          Type: AWS::Batch::ServiceEnvironment
          Properties: &environment
            ServiceEnvironmentName: gpus
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 8}]
        Queue: &queue
          Type: AWS::Batch::JobQueue
          Properties:
            JobQueueType: SAGEMAKER_TRAINING
            SchedulingPolicyArn: {Ref: Policy}
            ServiceEnvironmentOrder:
              - {Order: 1, ServiceEnvironment: {Ref: Environment}}
    after:
      Resources:
        Policy: *policy
        Environment:
          Type: AWS::Batch::ServiceEnvironment
          Properties: {<<: *environment, ServiceEnvironmentName: training-gpus}
        Queue: *queue
    ```

    ## Use instead

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
    after:
      capacity: {ml.g5.xlarge: 12} # the same environment, with more capacity
    ```

    ## References

    - Documented:
      [AWS::Batch::ServiceEnvironment](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-serviceenvironment.html):
      ServiceEnvironmentName is create-only: another value is a replacement.
    - Documented:
      [DeleteServiceEnvironment](https://docs.aws.amazon.com/batch/latest/APIReference/API_DeleteServiceEnvironment.html):
      an environment is deleted once no queue uses it.
    - Inferred: no page says what swapping the environment does to running jobs.
    """

    id = "QM405"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """The environment that is replaced, or the queue that moves to another one."""
        queue, environment = change.queue, change.environment
        if change.queue_ends or change.old is None or change.new is None:
            return
        moved = queue is not None and queue.setting("environment") is not None
        if moved or (environment is not None and environment.action == "replace"):
            before, after = change.old.environment, change.new.environment
            yield ChangeProblem(
                change.new,
                Problem(
                    after.path,
                    f"the queue moves from service environment {described(before.name)} to {described(after.name)}; "
                    "AWS does not say what becomes of running jobs",
                    "change the capacity of the environment that the queue has",
                    Spot.KEY,
                ),
                change.new.queue.name,
            )
