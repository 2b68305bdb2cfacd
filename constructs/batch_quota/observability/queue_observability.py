"""All that watches a quota-managed queue: dashboard, alarms, events and metrics of shares."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from constructs import Construct

from batch_quota.interfaces import ISageMakerTrainingQueue
from batch_quota.observability.alarm_options import AlarmOptions
from batch_quota.observability.alarms import QueueAlarms
from batch_quota.observability.dashboard import DashboardOptions, QueueDashboard
from batch_quota.observability.events import EventOptions, QueueEvents
from batch_quota.observability.notifications import make_key, make_topic
from batch_quota.observability.share_metrics import ShareMetrics, ShareMetricsOptions
from batch_quota.quota_share import QuotaShare
from batch_quota.training_queue import SageMakerTrainingQueue


@dataclass(frozen=True, kw_only=True, slots=True)
class ObservabilityOptions:
    """What watches a queue. Everything does by default; None turns a part off."""

    dashboard: DashboardOptions | None = field(default_factory=DashboardOptions)
    """A CloudWatch dashboard."""

    alarms: AlarmOptions | None = field(default_factory=AlarmOptions)
    """CloudWatch alarms."""

    events: EventOptions | None = field(default_factory=EventOptions)
    """EventBridge rules."""

    share_metrics: ShareMetricsOptions | None = field(default_factory=ShareMetricsOptions)
    """A function that publishes what shares use, borrow and lend: custom metrics, which CloudWatch charges for."""

    topic: sns.ITopic | None = None
    """Where alarms and events go. If left out, an encrypted topic is made; subscribe to it. A topic that is imported
    must let cloudwatch.amazonaws.com and events.amazonaws.com publish to it, and so must the policy of its key."""

    encryption_key: kms.IKey | None = None
    """Encrypts the topic and the log of the share metrics. If left out, one is made. The policy of a key that is
    imported must let CloudWatch, EventBridge and CloudWatch Logs use it."""


class QueueObservability(Construct):
    """All that watches a quota-managed queue.

    It shows the shares that the queue has when this is made. Of a queue that is imported it knows none, so its
    dashboard has no widgets of shares; their metrics are published all the same.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        job_queue: ISageMakerTrainingQueue,
        options: ObservabilityOptions | None = None,
    ) -> None:
        """Make what the options ask for.

        :param job_queue: The queue, after all its shares have been made.
        :param options: The defaults, which are all parts, if left out.
        :raises ValueError: With every problem of the options of a part.
        """
        super().__init__(scope, id_)
        options = options or ObservabilityOptions()
        name = _name_of(job_queue)
        self._topic = options.topic
        self._key = options.encryption_key
        self._events: QueueEvents | None = None
        self._share_metrics: ShareMetrics | None = None
        self._alarms: QueueAlarms | None = None
        self._dashboard: QueueDashboard | None = None
        needs_topic = options.alarms is not None or (options.events is not None and options.events.need_topic)
        makes_topic = needs_topic and options.topic is None
        if self._key is None and (makes_topic or options.share_metrics is not None):
            self._key = make_key(self, "Key")
        if makes_topic and self._key is not None:
            self._topic = make_topic(self, "Topic", self._key)
        if options.events is not None:
            self._events = QueueEvents(
                self, "Events", job_queue_arn=job_queue.job_queue_arn, topic=self._topic, options=options.events
            )
        if options.share_metrics is not None and self._key is not None:
            self._share_metrics = ShareMetrics(
                self,
                "ShareMetrics",
                job_queue_arn=job_queue.job_queue_arn,
                encryption_key=self._key,
                options=options.share_metrics,
            )
        if options.alarms is not None and self._topic is not None:
            self._alarms = QueueAlarms(
                self,
                "Alarms",
                job_queue_name=name,
                topic=self._topic,
                events=self._events,
                share_metrics=self._share_metrics,
                options=options.alarms,
            )
        if options.dashboard is not None:
            self._dashboard = QueueDashboard(
                self,
                "Dashboard",
                job_queue_name=name,
                capacity_limits=_capacity_limits(job_queue),
                alarms=self._alarms,
                events=self._events,
                share_metrics=self._share_metrics,
                options=options.dashboard,
            )

    @property
    def topic(self) -> sns.ITopic | None:
        """Where alarms and events go: the one given, or the one made; None if nothing needs one."""
        return self._topic

    @property
    def encryption_key(self) -> kms.IKey | None:
        """What encrypts the topic and the log of the share metrics; None if neither is made."""
        return self._key

    @property
    def dashboard(self) -> QueueDashboard | None:
        """The dashboard, if it is not turned off."""
        return self._dashboard

    @property
    def alarms(self) -> QueueAlarms | None:
        """The alarms, if they are not turned off."""
        return self._alarms

    @property
    def events(self) -> QueueEvents | None:
        """The rules on events, if they are not turned off."""
        return self._events

    @property
    def share_metrics(self) -> ShareMetrics | None:
        """What publishes the metrics of shares, if it is not turned off."""
        return self._share_metrics


def _name_of(queue: ISageMakerTrainingQueue) -> str:
    """Name of the queue, in plain text if it is known, so that alarms and dashboard can be read in the template."""
    known = queue.known_name if isinstance(queue, SageMakerTrainingQueue) else None
    return known or queue.job_queue_name


def _capacity_limits(queue: ISageMakerTrainingQueue) -> Mapping[str, Mapping[str, float]]:
    """Limits of the shares that were made for the queue so far, by share."""
    if not isinstance(queue, SageMakerTrainingQueue):
        return {}
    shares = queue.quota_shares.items()
    return {name: share.capacity_limits for name, share in shares if isinstance(share, QuotaShare)}
