"""The dashboard: which metrics it shows, and that its widgets are where CloudWatch can show them."""

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations, pairwise
from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack, Token
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from aws_cdk.assertions import Template

from batch_quota import DashboardOptions, QueueAlarms, QueueDashboard, QueueEvents, ShareMetrics
from batch_quota.observability.share_metrics_handler import handler

Json = dict[str, Any]

QUEUE = "arn:aws:batch:us-east-1:111122223333:job-queue/training"
SMALL, LARGE = "ml.g5.xlarge", "ml.g5.48xlarge"
LIMITS = {"search": {SMALL: 4, LARGE: 1}, "ads": {SMALL: 8}, "research": {LARGE: 2}, "night": {LARGE: 1}}

OF_SERVICE_JOBS = {
    "JobsSubmitted",
    "JobsMovedToPending",
    "JobsMovedToRunnable",
    "JobsMovedToScheduled",
    "JobsMovedToStarting",
    "JobsMovedToRunning",
    "JobsMovedToSucceeded",
    "JobsMovedToFailed",
    "JobsCancelled",
    "JobsTerminated",
    "JobsRetried",
    "JobsPreempted",
    "JobSubmittedToRunnableDuration",
    "JobSubmittedToFirstScheduledDuration",
    "JobAttemptRunnableToScheduledDuration",
    "JobAttemptScheduledToStartingDuration",
    "JobAttemptStartingToRunningDuration",
    "JobAttemptExecutionDuration",
    "JobAttemptDuration",
}
"""What the AWS Batch user guide lists under Using CloudWatch metrics with AWS Batch."""


@pytest.fixture
def body(stack: Stack) -> Callable[..., Json]:
    """The body of a dashboard with all parts, or without shares. Expressions are still in it, as `${NAME}`."""

    def make(
        limits: Mapping[str, Mapping[str, float]] | None = LIMITS,
        name: str = "training",
        options: DashboardOptions | None = None,
    ) -> Json:
        topic = sns.Topic(stack, "Topic")
        events = QueueEvents(stack, "Events", job_queue_arn=QUEUE, topic=topic)
        metrics = (
            ShareMetrics(stack, "ShareMetrics", job_queue_arn=QUEUE, encryption_key=kms.Key(stack, "Key"))
            if limits is not None
            else None
        )
        alarms = QueueAlarms(stack, "Alarms", job_queue_name=name, topic=topic, events=events, share_metrics=metrics)
        QueueDashboard(
            stack,
            "Dashboard",
            job_queue_name=name,
            capacity_limits=limits,
            alarms=alarms,
            events=events,
            share_metrics=metrics,
            options=options,
        )
        return dict(json.loads(_written(_dashboard(stack))))

    return make


def test_every_metric_of_service_jobs_is_shown_but_pending_which_they_never_are(body: Callable[..., Json]):
    shown = {name for namespace, name, _ in _metrics(body()) if namespace == "AWS/Batch"}
    assert shown == OF_SERVICE_JOBS - {"JobsMovedToPending"}


def test_metrics_of_the_queue_have_its_name_as_their_only_dimension(body: Callable[..., Json]):
    dimensions = [d for namespace, _, d in _metrics(body()) if namespace == "AWS/Batch"]
    assert dimensions
    assert all(d == {"JobQueueName": "training"} for d in dimensions)


def test_what_is_shown_of_shares_is_what_the_function_publishes(body: Callable[..., Json]):
    shares = [
        handler.Share(name=name, strategy="LEND", limits=limits, usage={}, at_front_since=None)
        for name, limits in LIMITS.items()
    ]
    measured = [*handler.capacity(shares, "training"), *handler.waiting(shares, "training", now=0)]
    published = {(name, frozenset(m.dimensions.items())) for m in measured for name in m.values}
    shown = {(name, frozenset(d.items())) for space, name, d in _metrics(body()) if space == "BatchQuota"}
    assert shown == published


def test_each_share_has_a_graph_with_its_limits(body: Callable[..., Json]):
    graphs = {widget["properties"]["title"]: widget["properties"] for widget in _graphs(body())}
    limits = {
        share: {line["label"]: line["value"] for line in graphs[share]["annotations"]["horizontal"]} for share in LIMITS
    }
    assert limits == {
        share: {f"{unit} limit": limit for unit, limit in of_share.items()} for share, of_share in LIMITS.items()
    }


def test_without_share_metrics_nothing_of_shares_is_shown(body: Callable[..., Json]):
    assert {namespace for namespace, _, _ in _metrics(body(limits=None))} == {"AWS/Batch", "AWS/Events"}


def test_durations_are_shown_in_minutes(body: Callable[..., Json]):
    for widget in _graphs(body()):
        lines = widget["properties"]["metrics"]
        durations = [line for line in lines if str(line[1:2]).endswith("Duration']")]
        assert all(line[-1]["visible"] is False for line in durations)
        formulas = [line[0]["expression"] for line in lines if isinstance(line[0], dict)]
        if durations:
            assert formulas == [f"{line[-1]['id']} / 60000" for line in durations]


def test_all_alarms_are_shown_by_the_names_that_they_have(stack: Stack, body: Callable[..., Json]):
    (states,) = [widget for widget in body()["widgets"] if widget["type"] == "alarm"]
    prefix = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:"
    alarms = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    assert set(states["properties"]["alarms"]) == {prefix + alarm["Properties"]["AlarmName"] for alarm in alarms}


def test_widgets_fill_the_grid_and_do_not_overlap(body: Callable[..., Json]):
    widgets = body()["widgets"]
    for widget in widgets:
        assert 0 <= widget["x"] < widget["x"] + widget["width"] <= 24
    for one, other in combinations(widgets, 2):
        beside = one["x"] + one["width"] <= other["x"] or other["x"] + other["width"] <= one["x"]
        below = one["y"] + one["height"] <= other["y"] or other["y"] + other["height"] <= one["y"]
        assert beside or below
    tops = sorted({widget["y"] for widget in widgets})
    heights = {widget["y"]: widget["height"] for widget in widgets}
    assert all(top + heights[top] == following for top, following in pairwise(tops))


def test_ids_of_lines_are_unique_in_their_graph(body: Callable[..., Json]):
    for widget in _graphs(body()):
        ids = [line[-1]["id"] for line in widget["properties"]["metrics"] if "id" in line[-1]]
        assert len(ids) == len(set(ids))


def test_the_largest_queue_stays_within_the_limits_of_a_dashboard(body: Callable[..., Json]):
    """500 metrics a widget and 2,500 a dashboard; 500 widgets (CloudWatch user guide, service quotas)."""
    units = [f"ml.g5.{size}xlarge" for size in ("", 2, 4, 8, 12)]
    dashboard = body(limits={f"share-{number}": dict.fromkeys(units, 8) for number in range(20)})
    per_widget = [len(widget["properties"]["metrics"]) for widget in _graphs(dashboard)]
    assert max(per_widget) <= 500
    assert sum(per_widget) <= 2500
    assert len(dashboard["widgets"]) <= 500


def test_only_cloudformation_knows_region_rules_and_function(stack: Stack, body: Callable[..., Json]):
    written = json.dumps(body())
    _, variables = _dashboard(stack)["DashboardBody"]["Fn::Sub"]
    assert variables.keys() == {"QueueBlocked", "ReturnedToRunnable", "FunctionName"}
    for name in variables:
        assert f"${{{name}}}" in written
    assert {widget["properties"]["region"] for widget in _graphs(body_of(stack))} == {"${AWS::Region}"}


def test_a_name_that_only_cloudformation_knows_is_filled_in(stack: Stack, body: Callable[..., Json]):
    name = Token.as_string({"Ref": "Queue"})
    dashboard = body(name=name)
    _, variables = _dashboard(stack)["DashboardBody"]["Fn::Sub"]
    assert variables["JobQueueName"] == {"Ref": "Queue"}
    assert all(
        d == {"JobQueueName": "${JobQueueName}"} for namespace, _, d in _metrics(dashboard) if namespace == "AWS/Batch"
    )


def test_shares_types_and_limits_that_only_cloudformation_knows_leave_the_body_a_text(
    stack: Stack, body: Callable[..., Json]
):
    share, unit = (CfnParameter(stack, name).value_as_string for name in ("Share", "Type"))
    limit = CfnParameter(stack, "Limit", type="Number").value_as_number
    shown = body(limits={share: {unit: limit, SMALL: 4}, "ads": {unit: 1}})
    values = _dashboard(stack)["DashboardBody"]["Fn::Sub"][1]
    assert (values["Share0"], values["Unit0OfShare0"]) == ({"Ref": "Share"}, {"Ref": "Type"})
    graphs = {graph["properties"]["title"]: graph["properties"] for graph in _graphs(shown)}
    assert "${Unit0OfShare0} in use" in graphs
    assert graphs["${Share0}"]["annotations"]["horizontal"] == [{"label": f"{SMALL} limit", "value": 4}]


def test_the_dashboard_is_called_by_queue_and_region_since_names_are_unique_in_all_regions(
    stack: Stack, body: Callable[..., Json]
):
    body()
    assert _dashboard(stack)["DashboardName"] == {"Fn::Join": ["", ["training-", {"Ref": "AWS::Region"}]]}


def test_name_and_time_shown_can_be_chosen(stack: Stack, body: Callable[..., Json]):
    assert body(options=DashboardOptions(dashboard_name="gpus", start="-P3D"))["start"] == "-P3D"
    assert _dashboard(stack)["DashboardName"] == "gpus"


def body_of(stack: Stack) -> Json:
    return dict(json.loads(_written(_dashboard(stack))))


def _dashboard(stack: Stack) -> Json:
    (dashboard,) = Template.from_stack(stack).find_resources("AWS::CloudWatch::Dashboard").values()
    return dict(dashboard["Properties"])


def _written(dashboard: Json) -> str:
    written = dashboard["DashboardBody"]["Fn::Sub"]
    return str(written if isinstance(written, str) else written[0])


def _graphs(body: Json) -> list[Json]:
    return [widget for widget in body["widgets"] if widget["type"] == "metric"]


def _metrics(body: Json) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Namespace, name and dimensions of every metric."""
    for widget in _graphs(body):
        for line in widget["properties"]["metrics"]:
            if isinstance(line[0], str):
                namespace, name, *rest = line
                flat = [part for part in rest if isinstance(part, str)]
                yield namespace, name, dict(zip(flat[::2], flat[1::2], strict=True))
