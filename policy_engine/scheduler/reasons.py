"""Why a job waits without hope or has failed, in words: AWS's own where it publishes them, else ours, marked as such.

Source: "Service job stuck in RUNNABLE" in the AWS Batch user guide, and its pages on misconfiguration and time limits.
"""

from collections.abc import Mapping

from policy_engine.scheduler.outcome import Reason

SIMULATED = "Simulated: "
"""What a text begins with that is not AWS's."""

_SERVICE_ENVIRONMENT = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
_QUOTA_MANAGEMENT = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
_TIME_LIMIT = "Terminated by JobStateTimeLimit action due to reason: "

STATUS_REASON: Mapping[Reason, str] = {
    Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE: (
        f"{_SERVICE_ENVIRONMENT} - Service environment(s) associated with the job queue cannot meet the capacity "
        "requirement of the job."
    ),
    Reason.LIMIT_EXCEEDED: f"{_QUOTA_MANAGEMENT} - Job requirements exceed quota share capacity limits.",
    Reason.BORROW_LIMIT_EXCEEDED: (
        f"{_QUOTA_MANAGEMENT} - Job requirements exceed quota share capacity limits and borrow limits."
    ),
    Reason.BORROWABLE_EXCEEDED: (
        f"{_QUOTA_MANAGEMENT} - Job requires borrowing that exceeds all configured borrowable capacity."
    ),
    Reason.JOB_FAILED: f"{SIMULATED}the trace says that the job fails at its end.",
    Reason.ATTEMPT_TIMED_OUT: f"{SIMULATED}an attempt ran as long as its timeout allows.",
    Reason.TERMINATED: f"{SIMULATED}terminated by a control event.",
    Reason.PREEMPTION_RETRIES_EXHAUSTED: f"{SIMULATED}preempted once more than its preemption retries allow.",
    Reason.SHARE_DISABLED: f"{SIMULATED}submitted while the quota share was DISABLED.",
    Reason.TIME_LIMIT_SERVICE_ENVIRONMENT: _TIME_LIMIT + _SERVICE_ENVIRONMENT,
    Reason.TIME_LIMIT_QUOTA_MANAGEMENT: _TIME_LIMIT + _QUOTA_MANAGEMENT,
}
"""The `statusReason` of each reason but NONE."""
