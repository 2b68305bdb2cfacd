"""One topology for two accounts: a stage for each, where development has a smaller one. It is made in Python.

Run it with `cdk synth --quiet --app ".venv/bin/python examples/cdk/stages.py"`, deploy one with
`cdk deploy --app ".venv/bin/python examples/cdk/stages.py" "development/*"`.
"""

from aws_cdk import App, Environment, Stack, Stage, Tags
from constructs import Construct

from batch_quota import TEAM_TAG, QuotaManagedQueue, ResourceSharingStrategy, Topology


def topology(instances: int) -> Topology:
    """Half of the instances for production, half for research, which borrows."""
    half = {"ml.g5.xlarge": instances // 2}
    borrows = ResourceSharingStrategy.LEND_AND_BORROW
    return Topology.model_validate(
        {
            "name": "training",
            "capacity": {"ml.g5.xlarge": instances},
            "queue": {
                "time_limits": [
                    {"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "after": "1h"},
                    {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "after": "1h"},
                ]
            },
            "teams": {
                "search": {"shares": {"search": {"capacity": half, "strategy": ResourceSharingStrategy.LEND}}},
                "research": {"shares": {"research": {"capacity": half, "strategy": borrows, "borrow_limit": 100}}},
            },
        }
    )


class TrainingStage(Stage):
    """What one account gets. A stage can also be given to a pipeline: `pipeline.add_stage`."""

    def __init__(self, scope: Construct, id_: str, *, env: Environment, instances: int) -> None:
        super().__init__(scope, id_, env=env)
        stack = Stack(self, "training")
        QuotaManagedQueue(stack, "Quota", topology=topology(instances))
        # Each share has its team as a tag; what is shared belongs to the platform team.
        Tags.of(stack).add(TEAM_TAG, "platform", exclude_resource_types=["AWS::Batch::QuotaShare"])


app = App()
TrainingStage(app, "development", env=Environment(account="111122223333", region="eu-west-1"), instances=2)
TrainingStage(app, "production", env=Environment(account="444455556666", region="eu-west-1"), instances=16)
app.synth()
