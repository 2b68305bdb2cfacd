"""A topology inside a stack of one's own, beside other resources; here a parameter that names its queue.

Run it with `cdk synth --app ".venv/bin/python examples/cdk/own_stack.py"`.
"""

from pathlib import Path

from aws_cdk import App, Stack, Tags
from aws_cdk import aws_ssm as ssm

from batch_quota import QuotaManagedQueue
from policy_engine.topology import read_topology

app = App()
stack = Stack(app, "research-platform")
topology = read_topology(Path(__file__).parents[1] / "ml-training.yaml").topology
quota = QuotaManagedQueue(stack, "Quota", topology=topology)
Tags.of(quota).add("platform", "research")
ssm.StringParameter(
    stack, "QueueName", parameter_name="/research/training-queue", string_value=quota.queue.job_queue_name
)
app.synth()
