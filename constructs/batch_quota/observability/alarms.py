"""Alarms on a quota-managed queue."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from batch_quota.observability.alarm_options import (
    AlarmLevel,
    AlarmOptions,
    duration_problems,
    option_problems,
    wait_thresholds,
)
from batch_quota.observability.events import QueueEvents
from batch_quota.observability.metrics import BATCH, EVENTS, LAMBDA, preempted_percent
from batch_quota.observability.notifications import let_alarms_publish
from batch_quota.observability.share_metrics import ShareMetrics
from batch_quota.validation import require

_HOUR = 3600
_MINUTE = 60


@dataclass(frozen=True, kw_only=True, slots=True)
class _Metric:
    namespace: str
    name: str
    statistic: str
    dimensions: Mapping[str, str]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Alarm:
    """An alarm to be made: on one metric, or on an expression of several."""

    kind: str
    level: str
    description: str
    threshold: float
    period: int
    periods: int = 1
    metric: _Metric | None = None
    expression: list[cloudwatch.CfnAlarm.MetricDataQueryProperty] | None = None
    silence_is_news: bool = False
    """Whether the topic is told when there is no data."""


class QueueAlarms(Construct):
    """Alarms on preemptions, blocked shares and long waits, and on the watchers themselves.

    Their names are `QUEUE-KIND-LEVEL`. They tell their topic of ALARM and of OK. AWS Batch publishes a queue's metrics
    only when something happens, and at its best effort: no data is taken as no trouble.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        job_queue_name: str,
        topic: sns.ITopic,
        events: QueueEvents | None = None,
        share_metrics: ShareMetrics | None = None,
        options: AlarmOptions | None = None,
    ) -> None:
        """Make the alarms.

        :param job_queue_name: Name of the queue that they watch, and the start of their names.
        :param topic: What they tell. An imported topic must let cloudwatch.amazonaws.com publish to it.
        :param events: Whose rules say that the queue is blocked; each rule gets an alarm on events not delivered.
        :param share_metrics: Whose metrics say how old front jobs are; it gets an alarm on runs that fail.
        :param options: The defaults if left out.
        :raises ValueError: With every problem of the options.
        """
        options = options or AlarmOptions()
        require(scope, id_, duration_problems(options))
        waits = wait_thresholds(options)
        require(scope, id_, option_problems(options, waits))
        super().__init__(scope, id_)
        self._alarms: dict[str, cloudwatch.CfnAlarm] = {}
        self._topics = {level: topic_of_level.topic_arn for level, topic_of_level in options.topics.items()}
        self._topic_arn = topic.topic_arn
        for each in (topic, *options.topics.values()):
            let_alarms_publish(each)
        wanted = [
            *_preemptions(job_queue_name, options),
            *_waiting(job_queue_name, waits["runnable_to_scheduled"]),
            *(_blocked(events, options) if events else ()),
            *(_undelivered(events) if events else ()),
            *(_front_jobs(job_queue_name, share_metrics, waits["front_job_age"]) if share_metrics else ()),
            *(_failing(share_metrics) if share_metrics else ()),
        ]
        for alarm in wanted:
            self._make(job_queue_name, alarm)

    def _make(self, job_queue_name: str, alarm: _Alarm) -> None:
        name = f"{alarm.kind}-{alarm.level}"
        topic = [self._topics.get(alarm.level, self._topic_arn)]
        metric = alarm.metric
        self._alarms[name] = cloudwatch.CfnAlarm(
            self,
            name,
            alarm_name=f"{job_queue_name}-{name}",
            alarm_description=alarm.description,
            comparison_operator="GreaterThanOrEqualToThreshold",
            threshold=alarm.threshold,
            evaluation_periods=alarm.periods,
            treat_missing_data="missing" if alarm.silence_is_news else "notBreaching",
            alarm_actions=topic,
            ok_actions=topic,
            insufficient_data_actions=topic if alarm.silence_is_news else None,
            metrics=alarm.expression,
            namespace=metric.namespace if metric else None,
            metric_name=metric.name if metric else None,
            statistic=metric.statistic if metric else None,
            dimensions=_dimensions(metric.dimensions) if metric else None,
            period=alarm.period if metric else None,
        )

    @property
    def alarms(self) -> Mapping[str, cloudwatch.CfnAlarm]:
        """The alarms by KIND-LEVEL, such as `preempted-percent-critical`."""
        return MappingProxyType(self._alarms)


def _preemptions(queue: str, options: AlarmOptions) -> Iterator[_Alarm]:
    query = cloudwatch.CfnAlarm.MetricDataQueryProperty
    for level, percent in options.preempted_percent.items():
        counts = [
            query(id=id_, return_data=False, metric_stat=_hourly_sum(queue, metric))
            for id_, metric in (("preempted", "JobsPreempted"), ("scheduled", "JobsMovedToScheduled"))
        ]
        expression = preempted_percent("preempted", "scheduled", options.preempted_at_least)
        yield _Alarm(
            kind="preempted-percent",
            level=level,
            description=f"{percent:g} % or more of the jobs that {queue} dispatched in an hour were preempted in it, "
            f"and at least {options.preempted_at_least}. Look for shares that take turns, or at borrow limits.",
            threshold=percent,
            period=_HOUR,
            expression=[query(id="percent", expression=expression, label="preempted, % of dispatched"), *counts],
        )


def _waiting(queue: str, waits: Mapping[str, float]) -> Iterator[_Alarm]:
    for level, seconds in waits.items():
        yield _Alarm(
            kind="runnable-to-scheduled",
            level=level,
            description=f"Jobs that {queue} dispatched within an hour had been RUNNABLE for {_words(seconds)} on "
            "average. Jobs that still wait are not counted.",
            threshold=seconds * 1000,
            period=_HOUR,
            metric=_Metric(
                namespace=BATCH,
                name="JobAttemptRunnableToScheduledDuration",
                statistic="Average",
                dimensions={"JobQueueName": queue},
            ),
        )


def _blocked(events: QueueEvents, options: AlarmOptions) -> Iterator[_Alarm]:
    if events.queue_blocked is None:
        return
    for level, count in options.blocked_events.items():
        yield _Alarm(
            kind="blocked",
            level=level,
            description="AWS Batch says that a job blocks the front of the queue. The statusReason of the event, and "
            "of the job, says why: a limit that it can never meet, or instances that SageMaker does not have.",
            threshold=count,
            period=5 * _MINUTE,
            metric=_Metric(
                namespace=EVENTS,
                name="TriggeredRules",
                statistic="Sum",
                dimensions={"RuleName": events.rule_names["queue_blocked"]},
            ),
        )


def _undelivered(events: QueueEvents) -> Iterator[_Alarm]:
    for name, rule_name in events.rule_names.items():
        yield _Alarm(
            kind=f"undelivered-{name.replace('_', '-')}",
            level=AlarmLevel.WARNING,
            description="EventBridge could not deliver events of the queue to a target. See the policy of the topic "
            "and of its key: EventBridge meets no condition in them.",
            threshold=1,
            period=5 * _MINUTE,
            metric=_Metric(
                namespace=EVENTS, name="FailedInvocations", statistic="Sum", dimensions={"RuleName": rule_name}
            ),
        )


def _front_jobs(queue: str, share_metrics: ShareMetrics, waits: Mapping[str, float]) -> Iterator[_Alarm]:
    for level, seconds in waits.items():
        yield _Alarm(
            kind="front-job-age",
            level=level,
            description=f"A job has been at the front of its share of {queue} for {_words(seconds)}. The metric by "
            "QuotaShareName says of which; GetJobQueueSnapshot says which job.",
            threshold=seconds,
            period=_window(share_metrics),
            metric=_Metric(
                namespace=share_metrics.namespace,
                name="FrontJobAge",
                statistic="Maximum",
                dimensions={"JobQueueName": queue},
            ),
        )


def _failing(share_metrics: ShareMetrics) -> Iterator[_Alarm]:
    yield _Alarm(
        kind="share-metrics",
        level=AlarmLevel.WARNING,
        description="The function that publishes the share metrics fails, or does not run (INSUFFICIENT_DATA). The "
        "dashboard and the alarms on front jobs are blind meanwhile. Its log group says why.",
        threshold=1,
        period=_window(share_metrics),
        periods=2,
        metric=_Metric(
            namespace=LAMBDA,
            name="Errors",
            statistic="Sum",
            dimensions={"FunctionName": share_metrics.function_name},
        ),
        silence_is_news=True,
    )


def _window(share_metrics: ShareMetrics) -> int:
    """Seconds in which two runs of the function fall, so that one that is late leaves no gap."""
    return max(5 * _MINUTE, 2 * share_metrics.period_seconds)


def _hourly_sum(queue: str, metric: str) -> cloudwatch.CfnAlarm.MetricStatProperty:
    return cloudwatch.CfnAlarm.MetricStatProperty(
        metric=cloudwatch.CfnAlarm.MetricProperty(
            namespace=BATCH, metric_name=metric, dimensions=_dimensions({"JobQueueName": queue})
        ),
        period=_HOUR,
        stat="Sum",
    )


def _dimensions(dimensions: Mapping[str, str]) -> list[cloudwatch.CfnAlarm.DimensionProperty]:
    return [cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value) for name, value in dimensions.items()]


def _words(seconds: float) -> str:
    """As `2 hours` or `90 minutes`."""
    count, word = (seconds / _HOUR, "hour") if seconds % _HOUR == 0 else (seconds / _MINUTE, "minute")
    return f"{count:g} {word}" + ("" if count == 1 else "s")
