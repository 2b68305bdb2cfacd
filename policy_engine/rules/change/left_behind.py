"""QM417: resources that are left in the account."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class LeftBehind(ChangeRule):
    """Resource that stays in the account, outside the stack.

    ## What it checks

    In templates: whether a resource that is removed or replaced is kept by its DeletionPolicy or
    UpdateReplacePolicy.

    ## Why it matters

    Its jobs go on. But no stack looks after it any more: it keeps its name, a share keeps its limits and its place
    among the 20 of its queue, and somebody has to delete it by hand, or import it into a stack.

    ## Example

    ```yaml
    before:
      Resources:
        Policy: &policy
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
            JobQueueName: training
            JobQueueType: SAGEMAKER_TRAINING
            SchedulingPolicyArn: {Ref: Policy}
            ServiceEnvironmentOrder:
              - {Order: 1, ServiceEnvironment: {Ref: Environment}}
        Search: &share
          Type: AWS::Batch::QuotaShare
          DeletionPolicy: Retain
          Properties:
            QuotaShareName: search
            JobQueue: {Ref: Queue}
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 4}]
            ResourceSharingConfiguration: {Strategy: LEND}
    after:
      Resources:
        Policy: *policy
        Environment: *environment
        Queue: *queue
    ```

    ## Use instead

    ```yaml
    before:
      Resources:
        Policy: &policy
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
            JobQueueName: training
            JobQueueType: SAGEMAKER_TRAINING
            SchedulingPolicyArn: {Ref: Policy}
            ServiceEnvironmentOrder:
              - {Order: 1, ServiceEnvironment: {Ref: Environment}}
        Search: &share
          Type: AWS::Batch::QuotaShare
          DeletionPolicy: Retain
          Properties:
            QuotaShareName: search
            JobQueue: {Ref: Queue}
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 4}]
            ResourceSharingConfiguration: {Strategy: LEND}
    after:
      Resources:
        Policy: *policy
        Environment: *environment
        Queue: *queue
        Search: *share
    ```

    ## References

    - Documented:
      [DeletionPolicy attribute](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html):
      a resource with Retain stays when it is removed from the stack.
    """

    id = "QM417"
    severity = Severity.INFO

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each resource that leaves the stack and is retained."""
        for resource in change.resources:
            if resource.retained:
                yield self.at_old(
                    change,
                    resource,
                    f"the {resource.kind.noun} {described(resource.old_name)} stays in the account, outside the stack",
                    "delete it by hand once nobody needs it, or import it into a stack",
                )
