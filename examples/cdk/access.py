"""Access: a topology's principals, an execution role for a team's jobs, and grants to roles of the app.

Run it with `cdk synth --app ".venv/bin/python examples/cdk/access.py"`.
"""

from pathlib import Path

from aws_cdk import App, CfnOutput, Stack
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from batch_quota import AccessOptions, QuotaManagedQueue, TeamPolicies, TopologyAccess, TrainingExecutionRole
from policy_engine.topology import read_topology


def arns(policies: TeamPolicies) -> list[str]:
    """ARNs of all policies of a team: for a permission set, or for roles that the topology does not name."""
    return [policy.ref for of_a_kind in policies.policies.values() for policy in of_a_kind]


def put_out(access: TopologyAccess) -> None:
    """An output for each team that names somebody."""
    for team, policies in access.teams.items():
        CfnOutput(access, f"{team}-policies", value=" ".join(arns(policies)))


app = App()
stack = Stack(app, "training")

# What the jobs of the team `research` may use. SageMaker alone can get the role, and only for training jobs.
research_jobs = TrainingExecutionRole(
    stack,
    "ResearchJobs",
    input_buckets=[s3.Bucket.from_bucket_name(stack, "Datasets", "datasets")],
    output_buckets=[s3.Bucket.from_bucket_name(stack, "Models", "research-models")],
    repositories=[ecr.Repository.from_repository_name(stack, "Images", "research")],
)

# The roles that the topology names get managed policies. Its submitters may pass research's role to their jobs too.
quota = QuotaManagedQueue(
    stack,
    "Quota",
    topology=read_topology(Path(__file__).parents[1] / "ml-training.yaml").topology,
    access=AccessOptions(execution_roles={"research": [research_jobs]}),
    observability=None,
)
if quota.access is not None:  # it is None with `access=None`
    put_out(quota.access)

# A role of this app, beside those in the topology: nightly retraining may submit as the team `search`, and look.
retraining = iam.Role(stack, "Retraining", assumed_by=iam.ServicePrincipal("codebuild.amazonaws.com"))
quota.grant_submit(retraining, team="search")
quota.grant_view(retraining, team="search")

# One share only, and with a lower priority than its own highest.
sweeps = iam.Role(stack, "Sweeps", assumed_by=iam.ServicePrincipal("codebuild.amazonaws.com"))
quota.quota_shares["research-background"].grant_submit(sweeps, max_priority=100, execution_roles=[research_jobs])

# The platform team's on-call may change and terminate every job of the queue.
on_call = iam.Role.from_role_name(stack, "OnCall", "platform-on-call")
quota.queue.grant_operate(on_call)
quota.queue.grant_view(on_call)

app.synth()
