"""The policy engine in an app of one's own: it judges every queue at synthesis, and replays a trace as a gate.

One queue is made from a topology, whose expectations a trace has to meet. The other comes from a template that was
written by hand; what is found in it is acknowledged with a reason. Run it with
`cdk synth --quiet --app ".venv/bin/python examples/cdk/policy_validation.py"`.
"""

from pathlib import Path

from aws_cdk import Acknowledgment, App, Stack, Validations
from aws_cdk.cloudformation_include import CfnInclude

from batch_quota import QuotaManagedQueue, QuotaPolicyValidation, TraceReplay
from policy_engine.topology import read_topology

EXAMPLES = Path(__file__).parents[1]

app = App()
replay = TraceReplay(trace=str(EXAMPLES / "traces" / "ml-training.csv"))
Validations.of(app).add_plugins(QuotaPolicyValidation(replays={"ml-training": replay}))

stack = Stack(app, "research-platform")
topology = read_topology(EXAMPLES / "ml-training.yaml").topology
QuotaManagedQueue(stack, "Quota", topology=topology, observability=None, access=None)

by_hand = CfnInclude(
    stack,
    "ByHand",
    template_file=str(EXAMPLES / "templates" / "training.yaml"),
    parameters={"Instances": 10},
)
Validations.of(by_hand).acknowledge(
    Acknowledgment(id="BatchQuota::QM301", reason="two instances are kept for a team that joins next month")
)
app.synth()
