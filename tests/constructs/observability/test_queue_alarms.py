"""Alarms on a queue: on which metrics, at which thresholds, and whom they tell."""

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import Duration, Stack
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Match, Template

from batch_quota import (
    AlarmLevel,
    AlarmOptions,
    EventOptions,
    QueueAlarms,
    QueueEvents,
    ShareMetrics,
    ShareMetricsOptions,
)
from batch_quota.observability.metrics import preempted_percent

Json = dict[str, Any]

QUEUE = "arn:aws:batch:us-east-1:111122223333:job-queue/training"
HOUR = 3600


@pytest.fixture
def topic(stack: Stack) -> sns.Topic:
    return sns.Topic(stack, "Topic", master_key=kms.Key(stack, "Key"))


@pytest.fixture
def made(stack: Stack, topic: sns.Topic) -> Callable[..., QueueAlarms]:
    """Alarms with rules and share metrics beside them."""

    def make(options: AlarmOptions | None = None) -> QueueAlarms:
        return QueueAlarms(
            stack,
            "Alarms",
            job_queue_name="training",
            topic=topic,
            events=QueueEvents(stack, "Events", job_queue_arn=QUEUE, topic=topic),
            share_metrics=ShareMetrics(
                stack, "ShareMetrics", job_queue_arn=QUEUE, encryption_key=kms.Key(stack, "LogKey")
            ),
            options=options,
        )

    return make


def test_all_alarms_are_made_by_default_and_named_by_queue_kind_and_level(
    stack: Stack, made: Callable[..., QueueAlarms]
):
    kinds = made().alarms
    assert sorted(kinds) == [
        "blocked-warning",
        "front-job-age-critical",
        "front-job-age-warning",
        "preempted-percent-critical",
        "preempted-percent-warning",
        "runnable-to-scheduled-critical",
        "runnable-to-scheduled-warning",
        "share-metrics-warning",
        "undelivered-queue-blocked-warning",
        "undelivered-returned-to-runnable-warning",
    ]
    assert set(_alarms(stack)) == {f"training-{kind}" for kind in kinds}


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        (
            "training-runnable-to-scheduled-warning",
            ("AWS/Batch", "JobAttemptRunnableToScheduledDuration", "Average", HOUR, 2 * HOUR * 1000),
        ),
        (
            "training-runnable-to-scheduled-critical",
            ("AWS/Batch", "JobAttemptRunnableToScheduledDuration", "Average", HOUR, 8 * HOUR * 1000),
        ),
        ("training-blocked-warning", ("AWS/Events", "TriggeredRules", "Sum", 300, 1)),
        ("training-undelivered-queue-blocked-warning", ("AWS/Events", "FailedInvocations", "Sum", 300, 1)),
        ("training-front-job-age-warning", ("BatchQuota", "FrontJobAge", "Maximum", 600, 8 * HOUR)),
        ("training-front-job-age-critical", ("BatchQuota", "FrontJobAge", "Maximum", 600, 24 * HOUR)),
        ("training-share-metrics-warning", ("AWS/Lambda", "Errors", "Sum", 600, 1)),
    ],
)
def test_an_alarm_measures_what_its_name_says(
    stack: Stack, made: Callable[..., QueueAlarms], name: str, measured: tuple[str, str, str, int, float]
):
    made()
    alarm = _alarms(stack)[name]
    properties = ("Namespace", "MetricName", "Statistic", "Period", "Threshold")
    assert tuple(alarm[prop] for prop in properties) == measured
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"


def test_preemptions_are_measured_against_dispatched_jobs_of_an_hour(stack: Stack, made: Callable[..., QueueAlarms]):
    made(AlarmOptions(preempted_percent={"sev2": 40}, preempted_at_least=7))
    alarm = _alarms(stack)["training-preempted-percent-sev2"]
    expression, *counts = alarm["Metrics"]
    assert alarm["Threshold"] == 40
    assert expression["Expression"] == preempted_percent("preempted", "scheduled", 7)
    assert {count["Id"]: count["MetricStat"]["Metric"]["MetricName"] for count in counts} == {
        "preempted": "JobsPreempted",
        "scheduled": "JobsMovedToScheduled",
    }
    for count in counts:
        assert count["ReturnData"] is False
        assert (count["MetricStat"]["Period"], count["MetricStat"]["Stat"]) == (HOUR, "Sum")
        assert count["MetricStat"]["Metric"]["Dimensions"] == [{"Name": "JobQueueName", "Value": "training"}]


@pytest.mark.parametrize(
    ("preempted", "scheduled", "percent"),
    [(5, 20, 25), (20, 20, 100), (30, 20, 100), (20, None, 100), (4, 4, 0), (0, 20, 0)],
)
def test_the_percentage_is_of_all_dispatched_jobs_and_0_below_the_least(
    preempted: int, scheduled: int | None, percent: float
):
    formula = preempted_percent("preempted", "scheduled", at_least=5)
    functions = {
        "IF": lambda condition, then, otherwise: then if condition else otherwise,
        "MAX": max,
        "FILL": lambda metric, value: value if metric is None else metric,
    }
    values = {"preempted": preempted, "scheduled": scheduled}
    assert eval(formula, {"__builtins__": {}}, functions | values) == percent  # noqa: S307 - the formula is ours


def test_alarms_tell_the_topic_of_trouble_and_of_its_end(
    stack: Stack, made: Callable[..., QueueAlarms], topic: sns.Topic
):
    made()
    arn = [{"Ref": stack.get_logical_id(topic.node.default_child)}]
    for alarm in _alarms(stack).values():
        assert alarm["AlarmActions"] == alarm["OKActions"] == arn


def test_only_the_silence_of_the_share_metrics_is_news(
    stack: Stack, made: Callable[..., QueueAlarms], topic: sns.Topic
):
    made()
    alarms = _alarms(stack)
    silent = alarms.pop("training-share-metrics-warning")
    assert silent["TreatMissingData"] == "missing"
    assert silent["InsufficientDataActions"] == [{"Ref": stack.get_logical_id(topic.node.default_child)}]
    assert {alarm["TreatMissingData"] for alarm in alarms.values()} == {"notBreaching"}
    assert not any("InsufficientDataActions" in alarm for alarm in alarms.values())


def test_a_level_can_have_a_topic_of_its_own(stack: Stack, made: Callable[..., QueueAlarms]):
    pager = sns.Topic(stack, "Pager")
    made(AlarmOptions(topics={AlarmLevel.CRITICAL: pager}))
    arn = [{"Ref": stack.get_logical_id(pager.node.default_child)}]
    to_pager = {name for name, alarm in _alarms(stack).items() if alarm["AlarmActions"] == arn}
    assert to_pager == {name for name in _alarms(stack) if name.endswith("-critical")}


def test_alarms_of_this_account_may_publish_to_each_topic_and_use_its_key(
    stack: Stack, made: Callable[..., QueueAlarms]
):
    made(AlarmOptions(topics={AlarmLevel.CRITICAL: sns.Topic(stack, "Pager", master_key=kms.Key(stack, "PagersKey"))}))
    template = Template.from_stack(stack)
    alarms = {"Fn::Sub": "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:*"}
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": "cloudwatch.amazonaws.com"},
        "Condition": {
            "StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}},
            "ArnLike": {"aws:SourceArn": alarms},
        },
    }
    for kind, document, action in (
        ("AWS::SNS::TopicPolicy", "PolicyDocument", "sns:Publish"),
        ("AWS::KMS::Key", "KeyPolicy", ["kms:Decrypt", "kms:GenerateDataKey*"]),
    ):
        wanted = Match.array_with([Match.object_like({**statement, "Action": action})])
        allowed = template.find_resources(kind, {"Properties": {document: {"Statement": wanted}}})
        assert len(allowed) == 2, kind


@pytest.mark.parametrize(
    ("option", "kind"),
    [
        ("preempted_percent", "preempted-percent"),
        ("blocked_events", "blocked"),
        ("runnable_to_scheduled", "runnable-to-scheduled"),
        ("front_job_age", "front-job-age"),
    ],
)
def test_an_empty_mapping_makes_no_alarm_of_its_kind(made: Callable[..., QueueAlarms], option: str, kind: str):
    assert not [name for name in made(AlarmOptions(**{option: {}})).alarms if name.startswith(kind)]


def test_durations_are_thresholds_in_the_unit_of_their_metric(stack: Stack, made: Callable[..., QueueAlarms]):
    made(AlarmOptions(runnable_to_scheduled={"sev1": Duration.minutes(90)}, front_job_age={"sev1": Duration.hours(1)}))
    alarms = _alarms(stack)
    assert alarms["training-runnable-to-scheduled-sev1"]["Threshold"] == 90 * 60 * 1000
    assert "for 90 minutes on average" in alarms["training-runnable-to-scheduled-sev1"]["AlarmDescription"]
    assert alarms["training-front-job-age-sev1"]["Threshold"] == 3600
    assert "for 1 hour." in alarms["training-front-job-age-sev1"]["AlarmDescription"]


def test_what_is_not_there_is_not_watched(stack: Stack, topic: sns.Topic):
    events = QueueEvents(stack, "Events", job_queue_arn=QUEUE, topic=topic, options=EventOptions(queue_blocked=None))
    alarms = QueueAlarms(stack, "Alarms", job_queue_name="training", topic=topic, events=events)
    assert {name.rpartition("-")[0] for name in alarms.alarms} == {
        "preempted-percent",
        "runnable-to-scheduled",
        "undelivered-returned-to-runnable",
    }


def test_alarms_on_share_metrics_span_two_runs(stack: Stack, topic: sns.Topic):
    metrics = ShareMetrics(
        stack,
        "ShareMetrics",
        job_queue_arn=QUEUE,
        encryption_key=kms.Key(stack, "LogKey"),
        options=ShareMetricsOptions(period=Duration.minutes(20), namespace="Training"),
    )
    QueueAlarms(stack, "Alarms", job_queue_name="training", topic=topic, share_metrics=metrics)
    alarm = _alarms(stack)["training-front-job-age-warning"]
    assert (alarm["Namespace"], alarm["Period"]) == ("Training", 40 * 60)


def test_a_composite_alarm_takes_them(stack: Stack, made: Callable[..., QueueAlarms]):
    alarms = made().alarms
    both = [
        cloudwatch.AlarmRule.from_alarm(alarms[f"{kind}-critical"], cloudwatch.AlarmState.ALARM)
        for kind in ("preempted-percent", "front-job-age")
    ]
    cloudwatch.CompositeAlarm(stack, "Thrashing", alarm_rule=cloudwatch.AlarmRule.all_of(*both))
    Template.from_stack(stack).resource_count_is("AWS::CloudWatch::CompositeAlarm", 1)


def test_a_number_where_a_duration_belongs_is_refused(stack: Stack, topic: sns.Topic):
    options = AlarmOptions(front_job_age={"warning": 3600})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match="front_job_age: warning: expected a Duration"):
        QueueAlarms(stack, "Alarms", job_queue_name="training", topic=topic, options=options)


def test_all_problems_of_the_options_are_told_at_once(stack: Stack, topic: sns.Topic):
    options = AlarmOptions(
        preempted_percent={"warning": 120, "page me": 10},
        preempted_at_least=0,
        blocked_events={"critical": 0},
        runnable_to_scheduled={"warning": Duration.seconds(0)},
        topics={"critcal": topic},
    )
    with pytest.raises(ValueError, match="Stack/Alarms is not valid") as refusal:
        QueueAlarms(stack, "Alarms", job_queue_name="training", topic=topic, options=options)
    assert str(refusal.value).splitlines()[1:] == [
        "  - preempted_percent: warning: expected at most 100, not 120",
        "  - preempted_percent: level: expected 1 to 128 letters, digits, hyphens and underscores, not 'page me'",
        "  - blocked_events: critical: expected more than 0, not 0",
        "  - runnable_to_scheduled: warning: expected more than 0, not 0",
        "  - preempted_at_least: expected a whole number from 1 up, not 0",
        "  - topics: no alarm has the level 'critcal'; did you mean 'critical'?",
    ]


def _alarms(stack: Stack) -> dict[str, Json]:
    found = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    return {alarm["Properties"]["AlarmName"]: alarm["Properties"] for alarm in found}
