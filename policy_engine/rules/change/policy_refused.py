"""QM406: changes of the scheduling policy that AWS refuses."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule, Problem, Spot

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class PolicyRefused(ChangeRule):
    """Scheduling policy whose kind changes, which AWS refuses.

    ## What it checks

    That a queue with a quota share policy keeps such a policy: that its policy does not become a fair share policy,
    and that it is not taken away.

    ## Why it matters

    A policy is made for quota shares or for fair share, and never changes from one to the other; a queue's policy
    can be replaced, but not removed. To CloudFormation both look like updates. AWS refuses them, and the deployment
    is rolled back.

    ## Example

    ```yaml
    before:
      Resources:
        Policy:
          Type: AWS::Batch::SchedulingPolicy
          Properties:
            QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}
        Environment: &environment
          Type: AWS::Batch::ServiceEnvironment
          Properties:
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
        Policy:
          Type: AWS::Batch::SchedulingPolicy
          Properties:
            FairsharePolicy: {ShareDecaySeconds: 600}
        Environment: *environment
        Queue: *queue
    ```

    ## Use instead

    ```yaml
    before: {capacity: {ml.g5.xlarge: 8}}
    after: {capacity: {ml.g5.xlarge: 8}} # another queue for other jobs
    ```

    ## References

    - Documented:
      [UpdateSchedulingPolicy](https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateSchedulingPolicy.html):
      the type of a policy can be neither removed nor switched.
    - Documented: [CreateJobQueue](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html):
      a queue's policy can be replaced, not removed (said of fair share policies).
    - Inferred: CloudFormation tries it as an update, since the property is not create-only.
    """

    id = "QM406"
    severity = Severity.ERROR

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """The policy that changes its kind, or the queue that loses it."""
        policy, queue = change.policy, change.queue
        switched = policy is not None and policy.action == "update" and policy.setting("type") is not None
        lost = queue is not None and queue.setting("quota management") is not None
        if (switched or lost) and change.old is not None:
            yield ChangeProblem(
                change.old,
                Problem(
                    change.old.queue.path,
                    f"queue {described(change.name)} would have no quota share policy any more: "
                    "AWS refuses that, and the deployment is rolled back",
                    "keep the quota share policy; make another queue for jobs without quota shares",
                    Spot.KEY,
                ),
                change.name,
            )
