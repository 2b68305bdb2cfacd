"""Alarms on a quota-managed queue."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_sns as sns
from constructs import Construct

from batch_quota.observability.events import QueueEvents
from batch_quota.observability.metrics import BATCH, EVENTS, LAMBDA, preempted_percent
from batch_quota.observability.notifications import let_alarms_publish
from batch_quota.observability.share_metrics import ShareMetrics
from batch_quota.validation import is_token, name_problems, require, whole_number_problems
from policy_engine.topology.suggestions import did_you_mean

_HOUR = 3600
_MINUTE = 60


class AlarmLevel(StrEnum):
    """Names of levels. They are part of alarms' names, and say which topic an alarm goes to."""

    WARNING = "warning"
    """To look into within a working day."""
    CRITICAL = "critical"
    """Somebody should be woken for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmOptions:
    """Thresholds of a queue's alarms, by level: an AlarmLevel, or a name of your own.

    An alarm is made for each level of each mapping, so an empty mapping makes none.
    """

    preempted_percent: Mapping[str, float] = field(
        default_factory=lambda: {AlarmLevel.WARNING: 25, AlarmLevel.CRITICAL: 50}
    )
    """Of the jobs dispatched within an hour, the percentage preempted within it."""

    preempted_at_least: int = 10
    """Fewer preempted jobs in the hour are no alarm, whatever their percentage."""

    blocked_events: Mapping[str, float] = field(default_factory=lambda: {AlarmLevel.WARNING: 1})
    """How often AWS Batch said within 5 minutes that a job blocks the queue. Needs the rule `queue_blocked`."""

    runnable_to_scheduled: Mapping[str, Duration] | None = None
    """Mean time from RUNNABLE to SCHEDULED of the jobs dispatched within an hour; 2 and 8 hours if left out."""

    front_job_age: Mapping[str, Duration] | None = None
    """For how long a job has been at the front of its share; 8 and 24 hours if left out. Needs the share metrics."""

    topics: Mapping[str, sns.ITopic] = field(default_factory=dict)
    """Topics of the levels that go to another than the common one."""


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
        waits = _waits(options)
        require(scope, id_, _problems(options, waits))
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


def _waits(options: AlarmOptions) -> dict[str, dict[str, float]]:
    """Thresholds that are durations, in seconds."""
    defaults: dict[str, dict[str, float]] = {
        "runnable_to_scheduled": {AlarmLevel.WARNING: 2 * _HOUR, AlarmLevel.CRITICAL: 8 * _HOUR},
        "front_job_age": {AlarmLevel.WARNING: 8 * _HOUR, AlarmLevel.CRITICAL: 24 * _HOUR},
    }
    given = {"runnable_to_scheduled": options.runnable_to_scheduled, "front_job_age": options.front_job_age}
    return {
        name: dict(defaults[name]) if by_level is None else {level: d.to_seconds() for level, d in by_level.items()}
        for name, by_level in given.items()
    }


def _words(seconds: float) -> str:
    """As `2 hours` or `90 minutes`."""
    count, word = (seconds / _HOUR, "hour") if seconds % _HOUR == 0 else (seconds / _MINUTE, "minute")
    return f"{count:g} {word}" + ("" if count == 1 else "s")


def _problems(options: AlarmOptions, waits: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    thresholds = {
        "preempted_percent": options.preempted_percent,
        "blocked_events": options.blocked_events,
        **waits,
    }
    for name, by_level in thresholds.items():
        for level, threshold in by_level.items():
            yield from name_problems(f"{name}: level", level)
            if not is_token(threshold) and threshold <= 0:
                yield f"{name}: {level}: expected more than 0, not {threshold:g}"
            if name == "preempted_percent" and not is_token(threshold) and threshold > 100:
                yield f"{name}: {level}: expected at most 100, not {threshold:g}"
    yield from whole_number_problems("preempted_at_least", options.preempted_at_least, lowest=1)
    yield from _level_problems(
        options.topics, {AlarmLevel.WARNING, *(level for by_level in thresholds.values() for level in by_level)}
    )


def _level_problems(topics: Iterable[str], levels: set[str]) -> Iterator[str]:
    for level in topics:
        if level not in levels:
            hint = did_you_mean(level, sorted(levels), f"levels are {', '.join(sorted(levels))}")
            yield f"topics: no alarm has the level {level!r}; {hint}"
