"""A CloudWatch dashboard of a quota-managed queue."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aws_cdk import Fn
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from batch_quota.observability.alarms import QueueAlarms
from batch_quota.observability.events import QueueEvents
from batch_quota.observability.metrics import BATCH, EVENTS, LAMBDA, preempted_percent
from batch_quota.observability.share_metrics import ShareMetrics
from batch_quota.observability.widgets import (
    Json,
    Line,
    Values,
    alarm_states,
    expression,
    graph,
    in_minutes,
    metric,
    note,
)
from batch_quota.validation import is_token

_MOVED = {
    "JobsSubmitted": "submitted",
    "JobsMovedToRunnable": "RUNNABLE",
    "JobsMovedToScheduled": "SCHEDULED",
    "JobsMovedToStarting": "STARTING",
    "JobsMovedToRunning": "RUNNING",
}
_ENDED = {
    "JobsMovedToSucceeded": "SUCCEEDED",
    "JobsMovedToFailed": "FAILED",
    "JobsTerminated": "of these terminated",
    "JobsCancelled": "of these cancelled",
    "JobsRetried": "attempts retried",
}
_WAITS = {
    "JobSubmittedToRunnableDuration": "SUBMITTED to RUNNABLE",
    "JobSubmittedToFirstScheduledDuration": "SUBMITTED to first SCHEDULED",
    "JobAttemptRunnableToScheduledDuration": "RUNNABLE to SCHEDULED",
    "JobAttemptScheduledToStartingDuration": "SCHEDULED to STARTING",
}
_RUNS = {
    "JobAttemptStartingToRunningDuration": "STARTING to RUNNING",
    "JobAttemptExecutionDuration": "RUNNING",
    "JobAttemptDuration": "STARTING to the end",
}
_SHARES_A_ROW = 3

_QUEUE_NOTE = (
    "**Queue.** AWS Batch publishes these metrics when something happens, at its best effort. None of them counts jobs "
    "in a state, and none sees a job that still waits."
)
_SHARES_NOTE = (
    "**Shares.** AWS Batch has no metrics of shares: these are taken from GetJobQueueSnapshot at intervals. Borrowed "
    "is what a share uses above its limit. AWS does not say who lends: lent is each lender's part of all that is "
    "borrowed, in proportion to what it has idle."
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DashboardOptions:
    """How the dashboard is called, and the time that it shows."""

    dashboard_name: str | None = None
    """`QUEUE-REGION` if left out: names of dashboards are unique in an account, whatever the Region."""

    start: str = "-PT12H"
    """The start of the time shown at first: an ISO 8601 duration before now, or a point of time."""


class QueueDashboard(Construct):
    """A dashboard of AWS Batch's metrics of a queue, of its alarms and events, and of its shares if they are published.

    Its body is written whole, and not widget by widget.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        job_queue_name: str,
        capacity_limits: Mapping[str, Mapping[str, float]] | None = None,
        alarms: QueueAlarms | None = None,
        events: QueueEvents | None = None,
        share_metrics: ShareMetrics | None = None,
        options: DashboardOptions | None = None,
    ) -> None:
        """Make the dashboard.

        :param job_queue_name: Name of the queue.
        :param capacity_limits: The limits of the shares by share and instance type. Shown with `share_metrics` only.
        :param alarms: Shown by their states.
        :param events: Shown by how often their rules matched.
        :param share_metrics: Whose metrics of the shares are shown.
        :param options: The defaults if left out.
        """
        super().__init__(scope, id_)
        options = options or DashboardOptions()
        values = Values()
        queue = values.text("JobQueueName", job_queue_name)
        rows = [
            *([[_alarm_states(queue, alarms)]] if alarms and alarms.alarms else []),
            *_queue_rows(queue),
            *([[_events(values, events)]] if events and events.rule_names else []),
            *(_share_rows(queue, capacity_limits or {}, share_metrics, values) if share_metrics else ()),
        ]
        self._resource = cloudwatch.CfnDashboard(
            self,
            "Resource",
            dashboard_name=options.dashboard_name or f"{job_queue_name}-{Fn.ref('AWS::Region')}",
            dashboard_body=values.body(rows, options.start),
        )

    @property
    def dashboard_name(self) -> str:
        """Name of the dashboard."""
        return self._resource.ref


def _alarm_states(queue: str, alarms: QueueAlarms) -> Json:
    prefix = "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm"
    return alarm_states("Alarms", [f"{prefix}:{queue}-{name}" for name in alarms.alarms])


def _queue_rows(queue: str) -> Iterator[list[Json]]:
    def of_queue(name: str, **rendering: object) -> Line:
        return metric(BATCH, name, {"JobQueueName": queue}, **rendering)

    def counts(labels: Mapping[str, str]) -> list[Line]:
        return [of_queue(name, label=label) for name, label in labels.items()]

    def minutes(labels: Mapping[str, str], statistic: str) -> list[Line]:
        named = enumerate(labels.items())
        return [line for i, (name, label) in named for line in in_minutes(f"m{i}", of_queue(name), label, statistic)]

    percent = [
        expression(preempted_percent("preempted", "scheduled", at_least=1), "preempted, % of dispatched"),
        of_queue("JobsPreempted", id="preempted", visible=False),
        of_queue("JobsMovedToScheduled", id="scheduled", visible=False),
    ]
    yield [note(_QUEUE_NOTE)]
    yield [
        graph("Jobs preempted", [of_queue("JobsPreempted", label="preempted")], unit="jobs", statistic="Sum"),
        graph("Preempted of the jobs dispatched in an hour", percent, unit="%", statistic="Sum", period=3600),
    ]
    yield [
        graph("Jobs moved to", counts(_MOVED), unit="jobs", statistic="Sum"),
        graph("Jobs ended", counts(_ENDED), unit="jobs", statistic="Sum"),
    ]
    yield [
        graph("Waits that ended, mean", minutes(_WAITS, "Average"), unit="minutes", statistic="Average"),
        graph("Waits that ended, longest", minutes(_WAITS, "Maximum"), unit="minutes", statistic="Maximum"),
        graph("Attempts, mean", minutes(_RUNS, "Average"), unit="minutes", statistic="Average"),
    ]


def _events(values: Values, events: QueueEvents) -> Json:
    lines = []
    for name, rule_name in events.rule_names.items():
        words = name.replace("_", " ")
        dimensions = {"RuleName": values.text(name.title().replace("_", ""), rule_name)}
        lines.append(metric(EVENTS, "TriggeredRules", dimensions, label=words))
        lines.append(metric(EVENTS, "FailedInvocations", dimensions, label=f"{words}, not delivered"))
    return graph("Events", lines, unit="events", statistic="Sum")


def _share_rows(
    queue: str, capacity_limits: Mapping[str, Mapping[str, float]], share_metrics: ShareMetrics, values: Values
) -> Iterator[list[Json]]:
    namespace = share_metrics.namespace
    limits = {
        values.text(f"Share{number}", share): {
            values.text(f"Unit{place}OfShare{number}", unit): limit
            for place, (unit, limit) in enumerate(of_share.items())
        }
        for number, (share, of_share) in enumerate(capacity_limits.items())
    }

    def of_unit(name: str, share: str, unit: str, label: str) -> Line:
        dimensions = {"JobQueueName": queue, "QuotaShareName": share, "CapacityUnit": unit}
        return metric(namespace, name, dimensions, label=label)

    ages = [
        metric(namespace, "FrontJobAge", {"JobQueueName": queue, "QuotaShareName": share}, label=share)
        for share in limits
    ]
    units = sorted({unit for of_share in limits.values() for unit in of_share})
    yield [note(_SHARES_NOTE)]
    yield [
        graph("Age of the job at the front of its share", ages, unit="seconds", statistic="Maximum"),
        _function(values, share_metrics),
    ]
    usages = [
        graph(
            f"{unit} in use",
            [of_unit("CapacityUsage", share, unit, share) for share in limits if unit in limits[share]],
            unit="instances",
            statistic="Maximum",
            stacked="yes",
        )
        for unit in units
    ]
    yield from _in_rows(usages)
    yield from _in_rows(
        [
            graph(
                share,
                [
                    of_unit(name, share, unit, f"{unit} {word}")
                    for unit in of_share
                    for name, word in (
                        ("CapacityUsage", "used"),
                        ("CapacityBorrowed", "borrowed"),
                        ("CapacityLent", "lent"),
                    )
                ],
                unit="instances",
                statistic="Maximum",
                # A line is at a number: there is none for a limit that only CloudFormation knows.
                limits={f"{unit} limit": limit for unit, limit in of_share.items() if not is_token(limit)},
            )
            for share, of_share in limits.items()
        ]
    )


def _function(values: Values, share_metrics: ShareMetrics) -> Json:
    dimensions = {"FunctionName": values.text("FunctionName", share_metrics.function_name)}
    lines = [
        metric(LAMBDA, name, dimensions, label=label) for name, label in (("Invocations", "runs"), ("Errors", "failed"))
    ]
    return graph("Publishing of share metrics", lines, unit="runs", statistic="Sum")


def _in_rows(widgets: list[Json]) -> Iterator[list[Json]]:
    for start in range(0, len(widgets), _SHARES_A_ROW):
        yield widgets[start : start + _SHARES_A_ROW]
