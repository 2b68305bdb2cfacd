"""What watches a quota-managed queue. `QueueObservability` makes all of it; the others are its parts."""

from batch_quota.observability.alarm_options import AlarmLevel, AlarmOptions
from batch_quota.observability.alarms import QueueAlarms
from batch_quota.observability.dashboard import DashboardOptions, QueueDashboard
from batch_quota.observability.events import EventOptions, EventRule, QueueEvents
from batch_quota.observability.queue_observability import ObservabilityOptions, QueueObservability
from batch_quota.observability.share_metrics import ShareMetrics, ShareMetricsOptions

__all__ = [
    "AlarmLevel",
    "AlarmOptions",
    "DashboardOptions",
    "EventOptions",
    "EventRule",
    "ObservabilityOptions",
    "QueueAlarms",
    "QueueDashboard",
    "QueueEvents",
    "QueueObservability",
    "ShareMetrics",
    "ShareMetricsOptions",
]
