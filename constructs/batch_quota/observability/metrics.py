"""Names of the CloudWatch metrics that alarms and dashboard read."""

BATCH = "AWS/Batch"
"""Metrics of a job queue, by JobQueueName (AWS Batch user guide, Using CloudWatch metrics with AWS Batch)."""

EVENTS = "AWS/Events"
"""Metrics of a rule, by RuleName (Amazon EventBridge user guide, Monitoring Amazon EventBridge)."""

LAMBDA = "AWS/Lambda"
"""Metrics of a function, by FunctionName (AWS Lambda developer guide, Types of metrics for Lambda functions)."""


def preempted_percent(preempted: str, scheduled: str, at_least: float) -> str:
    """Of the jobs that a queue dispatched, the percentage that it preempted, as a CloudWatch metric math expression.

    One dispatch can preempt several jobs, so the larger of the two counts is all of them: it never exceeds 100.

    :param preempted: Id of the metric JobsPreempted.
    :param scheduled: Id of the metric JobsMovedToScheduled.
    :param at_least: With fewer preempted jobs it is 0, so that one of one is no alarm.
    """
    dispatched = f"MAX([{preempted}, FILL({scheduled}, 0)])"
    return f"IF({preempted} >= {at_least}, 100 * {preempted} / {dispatched}, 0)"
