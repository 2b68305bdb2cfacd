"""QM311: misconfigured jobs that nothing ends."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import listed
from policy_engine.rules.kinds import Problem, Spot, TopologyRule
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import TIME_LIMIT_REASONS

_MISCONFIGURATION = "MISCONFIGURATION:"


class HeadWithoutTimeLimit(TopologyRule):
    """No time limit for jobs that can never run.

    ## What it checks

    That the queue has a time limit for each of the two MISCONFIGURATION reasons.

    ## Why it matters

    A job that is too big for its share or for the environment is not refused. It stays RUNNABLE at the front of its
    share, and the jobs behind it wait: without a time limit, until a person ends it.

    ## Example

    ```yaml
    queue:
      time_limits: []
    ```

    ## Use instead

    ```yaml
    queue:
      time_limits:
        - reason: MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE
          after: 30m
        - reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
          after: 30m
    ```

    ## References

    - Documented: [Jobs stuck in a RUNNABLE
      status](https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable.html): such a job blocks the
      front; time limits are optional.
    - Documented: [Automatic remediation with
      jobStateTimeLimitActions](https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable_time_limit_actions.html):
      the reasons.
    - Inferred: it holds up all jobs behind it in its share, and no other share.
    """

    id = "QM311"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The time limits as a whole."""
        limited = {limit.reason for limit in topology.queue.time_limits}
        missing = [
            reason for reason in TIME_LIMIT_REASONS if reason.startswith(_MISCONFIGURATION) and reason not in limited
        ]
        if missing:
            yield Problem(
                ("queue", "time_limits"),
                f"the queue has no time limit for {listed(missing)}: "
                "a job that can never run blocks its share without end",
                f'add {{reason: "{missing[0]}", after: 30m}} to the queue\'s time_limits'
                f"{', and the same for the other reason' if len(missing) > 1 else ''}",
                Spot.KEY,
            )
