"""QM415: names that are taken by what is removed later."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class NameTaken(ChangeRule):
    """Resource that moves to another logical id and keeps its name.

    ## What it checks

    In templates: that no resource is added with the name of one that is removed.

    ## Why it matters

    CloudFormation tells resources apart by their logical ids. Another logical id is another resource, which is made
    before the old one is removed. Its name is still taken then: AWS refuses it, and the deployment is rolled back.
    In the CDK, logical ids change when a construct moves in the tree. Keep it where it is, pin its logical id with
    `override_logical_id`, or refactor the stack without replacing anything.

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
        SearchShare: *share
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
      [Update behaviors of stack resources](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html):
      a new resource is made before an old one is removed.
    - Inferred: making a resource whose name is taken is an error; the example code that AWS publishes expects it.
    """

    id = "QM415"
    severity = Severity.ERROR

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each resource that is added under the name of one that goes away."""
        ending = {(each.kind, each.name): each for each in change.resources if each.action == "remove"}
        for resource in change.resources:
            old = ending.get((resource.kind, resource.name)) if resource.action == "add" else None
            if old is not None and old.old is not None and isinstance(resource.either.identity, str):
                yield self.at_new(
                    change,
                    resource,
                    f"the {resource.kind.noun} {described(resource.name)} gets another logical id: a second one cannot "
                    "be made before the first is removed, and the deployment fails",
                    f"keep the logical id {old.old.logical_id}",
                )
