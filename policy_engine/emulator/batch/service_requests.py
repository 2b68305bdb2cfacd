"""What of a SubmitServiceJob request is allowed, beyond what the model states.

Sources: SubmitServiceJob, ServiceJobRetryStrategy and ServiceJobEvaluateOnExit in the AWS Batch API reference; "AWS
Batch service quotas" and "Service job retry strategies" in the user guide.
"""

from typing import Any

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.validation import check_name, check_range
from policy_engine.topology.service_limits import MAX_SCHEDULING_PRIORITY

MAX_PAYLOAD = 10 * 1024
MAX_REQUEST = 30 * 1024
MAX_ATTEMPTS = 10
MAX_EXIT_RULES = 5
MAX_PATTERN = 512
_MOST = 2**31 - 1


def check_submission(request: dict[str, Any], size: int) -> None:
    """Check a request of `size` bytes that has the model's form. Raises ClientException."""
    if size > MAX_REQUEST:
        raise ClientException(f"the request has {size} bytes; at most {MAX_REQUEST} are allowed")
    payload = len(request["serviceRequestPayload"].encode())
    if payload > MAX_PAYLOAD:
        raise ClientException(f"serviceRequestPayload has {payload} bytes; at most {MAX_PAYLOAD} are allowed")
    check_name("jobName", request["jobName"])
    if "shareIdentifier" in request:
        raise ClientException("shareIdentifier is for job queues with a fair share policy; this queue has quota shares")
    if "quotaShareName" not in request:
        raise ClientException("quotaShareName must be specified for a job queue with a quota share policy")
    check_priority(request.get("schedulingPriority", 0))
    retries = request.get("preemptionConfiguration", {}).get("preemptionRetriesBeforeTermination", 0)
    check_range("preemptionConfiguration.preemptionRetriesBeforeTermination", retries, 0, _MOST)
    timeout = request.get("timeoutConfig", {}).get("attemptDurationSeconds", 1)
    check_range("timeoutConfig.attemptDurationSeconds", timeout, 1, _MOST)
    if "retryStrategy" in request:
        _check_retries(request["retryStrategy"])


def check_priority(priority: int) -> None:
    """Check a scheduling priority. Raises ClientException."""
    check_range("schedulingPriority", priority, 0, MAX_SCHEDULING_PRIORITY)


def _check_retries(strategy: dict[str, Any]) -> None:
    check_range("retryStrategy.attempts", strategy["attempts"], 1, MAX_ATTEMPTS)
    rules = strategy.get("evaluateOnExit", [])
    if len(rules) > MAX_EXIT_RULES:
        raise ClientException(f"retryStrategy.evaluateOnExit has {len(rules)} entries; at most {MAX_EXIT_RULES}")
    for index, rule in enumerate(rules):
        if len(rule.get("onStatusReason", "")) > MAX_PATTERN:
            raise ClientException(
                f"retryStrategy.evaluateOnExit[{index}].onStatusReason has more than {MAX_PATTERN} characters"
            )
