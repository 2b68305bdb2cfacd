"""Capacity, queue and shares in stacks of those who answer for them: finance, the platform team, a team that trains.

The constructs ask for interfaces, so what another app made goes wherever one's own goes. Run it with
`cdk synth --quiet --app ".venv/bin/python examples/cdk/several_stacks.py"`.
"""

from aws_cdk import App, Environment, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from batch_quota import (
    JOB_TAG,
    BatchSageMakerServiceLinkedRole,
    IQuotaShare,
    ISageMakerTrainingQueue,
    IServiceEnvironment,
    JobTag,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    ResourceSharingStrategy,
    SageMakerTrainingQueue,
    ServiceEnvironment,
)


class Platform(Stack):
    """The queue, on any service environment that no other queue uses."""

    def __init__(self, scope: Construct, id_: str, *, env: Environment, capacity: IServiceEnvironment) -> None:
        super().__init__(scope, id_, env=env)
        self.queue: ISageMakerTrainingQueue = SageMakerTrainingQueue(
            self,
            "Queue",
            job_queue_name="training",
            service_environment=capacity,
            scheduling_policy=QuotaShareSchedulingPolicy(self, "Policy"),
        )


class Submitter(Construct):
    """A role that submits to a share, and what its programs have to know."""

    def __init__(self, scope: Construct, id_: str, *, share: IQuotaShare) -> None:
        super().__init__(scope, id_)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("codebuild.amazonaws.com"))
        # Not REQUIRED yet: the programs that submit do not set the tag so far.
        share.grant_submit(role, job_tag=JobTag.OPTIONAL)
        ssm.StringParameter(self, "Tag", string_value=f"{JOB_TAG}={share.job_tag_value}")


app = App()
env = Environment(account="111122223333", region="eu-west-1")

# Only where no service environment was ever made: an account has one such role, and making it twice fails.
first = Stack(app, "first-of-the-account", env=env)
role = BatchSageMakerServiceLinkedRole(first, "ServiceLinkedRole")

reserved = Stack(app, "reserved-capacity", env=env)
capacity = ServiceEnvironment(
    reserved, "Capacity", service_environment_name="training", capacity_limits={"ml.g5.xlarge": 8}
)
capacity.node.add_dependency(role)
platform = Platform(app, "training-platform", env=env, capacity=capacity)

team = Stack(app, "search", env=env)
ranking = QuotaShare(
    team,
    "Ranking",
    job_queue=platform.queue,
    quota_share_name="search-ranking",
    capacity_limits={"ml.g5.xlarge": 4},
    strategy=ResourceSharingStrategy.LEND,
)
Submitter(team, "Retraining", share=ranking)

# A share that another app made, of the same queue.
Submitter(
    team,
    "Experiments",
    share=QuotaShare.from_quota_share_attributes(
        team, "Shared", job_queue=platform.queue, quota_share_name="experiments"
    ),
)
app.synth()
