"""Watching a queue that another app made: all of it at once, or the parts that one wants.

Run it with `cdk synth --quiet --app ".venv/bin/python examples/cdk/watching_a_queue.py"`.
"""

from aws_cdk import App, Duration, Stack
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns

from batch_quota import (
    DashboardOptions,
    ObservabilityOptions,
    QueueAlarms,
    QueueDashboard,
    QueueEvents,
    QueueObservability,
    SageMakerTrainingQueue,
    ShareMetrics,
    ShareMetricsOptions,
)

app = App()
stack = Stack(app, "watchers")

# All of it, but with a dashboard that shows a week.
training = SageMakerTrainingQueue.from_job_queue_name(stack, "Training", "training")
QueueObservability(
    stack,
    "Watchers",
    job_queue=training,
    options=ObservabilityOptions(dashboard=DashboardOptions(dashboard_name="training", start="-P7D")),
)

# The parts of it, for another queue, with a topic and a key of one's own.
research = SageMakerTrainingQueue.from_job_queue_name(stack, "Research", "research")
key = kms.Key(stack, "Key", enable_key_rotation=True)
topic = sns.Topic(stack, "Topic", master_key=key, enforce_ssl=True)
events = QueueEvents(stack, "Events", job_queue_arn=research.job_queue_arn, topic=topic)
share_metrics = ShareMetrics(
    stack,
    "ShareMetrics",
    job_queue_arn=research.job_queue_arn,
    encryption_key=key,
    options=ShareMetricsOptions(period=Duration.minutes(1)),
)
alarms = QueueAlarms(
    stack, "Alarms", job_queue_name="research", topic=topic, events=events, share_metrics=share_metrics
)
QueueDashboard(
    stack,
    "Dashboard",
    job_queue_name="research",
    capacity_limits={"research": {"ml.g5.xlarge": 4}},
    alarms=alarms,
    events=events,
    share_metrics=share_metrics,
)
app.synth()
