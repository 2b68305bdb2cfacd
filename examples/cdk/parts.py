"""Quota management from its parts, without a topology: three teams on three instances, one sharing strategy each.

Run it with `cdk synth --app ".venv/bin/python examples/cdk/parts.py"`.
"""

from aws_cdk import App, CfnOutput, Duration, Stack
from constructs import Construct

from batch_quota import (
    UNLIMITED,
    IdleResourceAssignmentStrategy,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharingStrategy,
    RunnableReason,
    RunnableTimeLimit,
    SageMakerTrainingQueue,
    ServiceEnvironment,
    State,
)


class TrainingStack(Stack):
    """A queue of three instances for three teams."""

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        queue = SageMakerTrainingQueue(
            self,
            "Queue",
            service_environment=ServiceEnvironment(self, "Environment", capacity_limits={"ml.g5.xlarge": 3}),
            # In which order idle instances go to shares that borrow. FIFO is all that AWS offers, and the default.
            scheduling_policy=QuotaShareSchedulingPolicy(
                self, "Policy", idle_resource_assignment_strategy=IdleResourceAssignmentStrategy.FIFO
            ),
            time_limits=[
                RunnableTimeLimit(reason=RunnableReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED, max_time=Duration.minutes(30))
            ],
        )
        QuotaShare(
            self,
            "Research",
            job_queue=queue,
            quota_share_name="research",
            capacity_limits={"ml.g5.xlarge": 1},
            strategy=ResourceSharingStrategy.LEND_AND_BORROW,
            borrow_limit=UNLIMITED,
            in_share_preemption=True,
        )
        QuotaShare(
            self,
            "Evaluation",
            job_queue=queue,
            quota_share_name="evaluation",
            capacity_limits={"ml.g5.xlarge": 1},
            strategy=ResourceSharingStrategy.LEND,
            state=State.DISABLED,  # takes no new jobs yet
        )
        QuotaShare(
            self,
            "Production",
            job_queue=queue,
            quota_share_name="production",
            capacity_limits={"ml.g5.xlarge": 1},
            strategy=ResourceSharingStrategy.RESERVE,
        )
        CfnOutput(self, "QueueArn", value=queue.job_queue_arn)


app = App()
TrainingStack(app, "training")
app.synth()
