"""QM113: the durations of time limits."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.durations import format_milliseconds
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_TIME_LIMIT_SECONDS, MIN_TIME_LIMIT_SECONDS


class TimeLimitDuration(TopologyRule):
    """Time limit outside 10 minutes to 24 hours.

    ## What it checks

    That each time limit's `after` is from 10 minutes to 24 hours, in whole seconds.

    ## Why it matters

    AWS takes 600 to 86400 seconds. It refuses others, and the deployment would fail.

    ## Example

    ```yaml
    queue:
      time_limits:
        - reason: MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE
          after: 5m
        - reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
          after: 2d
    ```

    ## Use instead

    ```yaml
    queue:
      time_limits:
        - reason: MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE
          after: 10m
        - reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
          after: 24h
    ```

    ## References

    - Documented:
      [JobStateTimeLimitAction](https://docs.aws.amazon.com/batch/latest/APIReference/API_JobStateTimeLimitAction.html):
      `maxTimeSeconds` is a whole number from 600 to 86400.
    """

    id = "QM113"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each duration that AWS does not take."""
        for index, limit in enumerate(topology.queue.time_limits):
            path = ("queue", "time_limits", index, "after")
            shown = format_milliseconds(limit.after)
            if not MIN_TIME_LIMIT_SECONDS * 1000 <= limit.after <= MAX_TIME_LIMIT_SECONDS * 1000:
                bounds = f"{MIN_TIME_LIMIT_SECONDS} to {MAX_TIME_LIMIT_SECONDS} seconds"
                nearest = "10m" if limit.after < MIN_TIME_LIMIT_SECONDS * 1000 else "24h"
                yield Problem(path, f"a time limit of {shown}; AWS expects {bounds}", f"the nearest is {nearest}")
            elif limit.after % 1000:
                yield Problem(path, f"a time limit of {shown}; AWS expects whole seconds", "round it to whole seconds")
