"""Who is told what: warnings by e-mail, critical alarms to a pager, jobs that are RUNNABLE again into a queue.

Run it with `cdk synth --app ".venv/bin/python examples/cdk/observability.py"`.
"""

from pathlib import Path

from aws_cdk import App, Duration, Stack
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sns_subscriptions as subscriptions
from aws_cdk import aws_sqs as sqs

from batch_quota import (
    AlarmLevel,
    AlarmOptions,
    EventOptions,
    EventRule,
    ObservabilityOptions,
    QuotaManagedQueue,
    ShareMetricsOptions,
)
from policy_engine.topology import read_topology

app = App()
stack = Stack(app, "watched-training")

key = kms.Key(stack, "Key", enable_key_rotation=True)
warnings = sns.Topic(stack, "Warnings", master_key=key, enforce_ssl=True)
warnings.add_subscription(subscriptions.EmailSubscription("training-platform@example.com"))
pager = sns.Topic.from_topic_arn(stack, "Pager", stack.format_arn(service="sns", resource="pager"))
requeued_jobs = sqs.Queue(stack, "RequeuedJobs", enforce_ssl=True)

QuotaManagedQueue(
    stack,
    "Quota",
    topology=read_topology(Path(__file__).parents[1] / "ml-training.yaml").topology,
    observability=ObservabilityOptions(
        topic=warnings,
        encryption_key=key,
        alarms=AlarmOptions(
            preempted_percent={AlarmLevel.WARNING: 30, AlarmLevel.CRITICAL: 60},
            runnable_to_scheduled={AlarmLevel.CRITICAL: Duration.hours(4)},
            topics={AlarmLevel.CRITICAL: pager},
        ),
        events=EventOptions(returned_to_runnable=EventRule(targets=[targets.SqsQueue(requeued_jobs)])),
        share_metrics=ShareMetricsOptions(period=Duration.minutes(10)),
    ),
)
app.synth()
