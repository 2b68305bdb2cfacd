"""Why a job waits without hope or has failed, in words: AWS's own where it publishes them, else ours, marked as such.

Source: "Service job stuck in RUNNABLE" in the AWS Batch user guide, and its pages on misconfiguration and time limits.
"""

from collections.abc import Mapping

from policy_engine.scheduler.outcome import Reason
from policy_engine.topology.status_reasons import (
    ABOVE_BORROW_LIMIT,
    ABOVE_BORROWABLE,
    ABOVE_ENVIRONMENT,
    ABOVE_LIMIT,
    QUOTA_MANAGEMENT_LIMIT_EXCEEDED,
    SERVICE_ENVIRONMENT_MAX_RESOURCE,
)

SIMULATED = "Simulated: "
"""What a text begins with that is not AWS's."""

_TIME_LIMIT = "Terminated by JobStateTimeLimit action due to reason: "

STATUS_REASON: Mapping[Reason, str] = {
    Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE: ABOVE_ENVIRONMENT,
    Reason.LIMIT_EXCEEDED: ABOVE_LIMIT,
    Reason.BORROW_LIMIT_EXCEEDED: ABOVE_BORROW_LIMIT,
    Reason.BORROWABLE_EXCEEDED: ABOVE_BORROWABLE,
    Reason.JOB_FAILED: f"{SIMULATED}the trace says that the job fails at its end.",
    Reason.ATTEMPT_TIMED_OUT: f"{SIMULATED}an attempt ran as long as its timeout allows.",
    Reason.TERMINATED: f"{SIMULATED}terminated by a control event.",
    Reason.PREEMPTION_RETRIES_EXHAUSTED: f"{SIMULATED}preempted once more than its preemption retries allow.",
    Reason.SHARE_DISABLED: f"{SIMULATED}submitted while the quota share was DISABLED.",
    Reason.TIME_LIMIT_SERVICE_ENVIRONMENT: _TIME_LIMIT + SERVICE_ENVIRONMENT_MAX_RESOURCE,
    Reason.TIME_LIMIT_QUOTA_MANAGEMENT: _TIME_LIMIT + QUOTA_MANAGEMENT_LIMIT_EXCEEDED,
}
"""The `statusReason` of each reason but NONE."""
