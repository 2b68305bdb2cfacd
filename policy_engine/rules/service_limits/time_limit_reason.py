"""QM112: the reasons of time limits."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.hints import Hints
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import TIME_LIMIT_REASONS


class TimeLimitReason(TopologyRule):
    """Time limit with a reason that AWS does not know.

    ## What it checks

    That each time limit names one of the three reasons for which Batch ends jobs at the front of a SageMaker Training
    queue.

    ## Why it matters

    A time limit acts when a job is stuck for exactly its reason. With any other text it never acts, or AWS refuses it.

    ## Example

    ```yaml
    queue:
      time_limits:
        - reason: MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE
          after: 30m
        - reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
          after: 30m
        - reason: CAPACITY:INSUFFICIENT_CAPACITY
          after: 12h
    ```

    ## Use instead

    ```yaml
    queue:
      time_limits:
        - reason: MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE
          after: 30m
        - reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
          after: 30m
        - reason: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY
          after: 12h
    ```

    ## References

    - Documented: [Automatic remediation with
      jobStateTimeLimitActions](https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable_time_limit_actions.html):
      the three reasons.
    - Inferred: what AWS does with another one. It is not documented whether it is refused.
    """

    id = "QM112"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each reason that is not one of the three."""
        hints = Hints(TIME_LIMIT_REASONS, f"known: {', '.join(TIME_LIMIT_REASONS)}")
        for index, limit in enumerate(topology.queue.time_limits):
            if limit.reason not in TIME_LIMIT_REASONS:
                yield Problem(
                    ("queue", "time_limits", index, "reason"),
                    f"AWS knows no reason {described(limit.reason)}",
                    hints.about(limit.reason),
                )
