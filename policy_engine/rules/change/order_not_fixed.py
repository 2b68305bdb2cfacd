"""QM416: updates that no dependency orders."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange, QueueSetup, Resource, ResourceChange


class OrderNotFixed(ChangeRule):
    """Resources that name each other without a dependency.

    ## What it checks

    In templates: that a share that changes refers to its queue, and the queue to its environment and its policy, by
    `Ref` or `Fn::GetAtt`, or names them in `DependsOn`.

    ## Why it matters

    Where only names are written, CloudFormation knows of no order, and deals with them at the same time. Then a
    share can be made before its queue, which fails, and can grow before the environment has the capacity.

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
            JobQueue: training
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 4}]
            ResourceSharingConfiguration: {Strategy: LEND}
    after:
      Resources:
        Policy: *policy
        Environment:
          Type: AWS::Batch::ServiceEnvironment
          Properties:
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 16}]
        Queue:
          Type: AWS::Batch::JobQueue
          Properties:
            JobQueueName: training
            JobQueueType: SAGEMAKER_TRAINING
            Priority: 2
            SchedulingPolicyArn: {Ref: Policy}
            ServiceEnvironmentOrder:
              - {Order: 1, ServiceEnvironment: {Ref: Environment}}
        Search:
          Type: AWS::Batch::QuotaShare
          Properties:
            QuotaShareName: search
            JobQueue: training
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 8}]
            ResourceSharingConfiguration: {Strategy: LEND}
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
        Search:
          Type: AWS::Batch::QuotaShare
          Properties:
            QuotaShareName: search
            JobQueue: {Ref: Queue}
            CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: 8}]
            ResourceSharingConfiguration: {Strategy: LEND}
    ```

    ## References

    - Documented:
      [DependsOn attribute](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html):
      the order comes from references and from DependsOn; without either, resources are dealt with in parallel.
    """

    id = "QM416"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each resource that changes together with one that it names, and does not wait for it."""
        if change.new is None:
            return
        changed = {each.either.logical_id for each in change.resources if each.action != "remove"}
        for resource in change.resources:
            waits = resource.either.waits_for
            if waits is None or resource.action == "remove":
                continue
            for needed in _needs(change.new, resource):
                if needed.logical_id in changed and needed.logical_id not in waits:
                    yield self.at_new(
                        change,
                        resource,
                        f"the {resource.kind.noun} {described(resource.name)} and its {needed.kind.noun} change, and "
                        "CloudFormation does not know which comes first",
                        f"refer to it: {{Ref: {needed.logical_id}}}, or add DependsOn: {needed.logical_id}",
                    )


def _needs(setup: "QueueSetup", resource: "ResourceChange") -> Iterator["Resource"]:
    """The resources that have to be there before one of them."""
    if resource.kind.noun == "quota share":
        yield setup.queue
    elif resource.kind.noun == "job queue":
        yield setup.environment
        if setup.policy is not None:
            yield setup.policy
