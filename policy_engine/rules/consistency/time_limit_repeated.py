"""QM204: time limits for one reason."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.durations import format_milliseconds
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.model import Topology


class TimeLimitRepeated(TopologyRule):
    """Two time limits for one reason.

    ## What it checks

    That no two of the queue's `time_limits` name the same reason.

    ## Why it matters

    Which of the two would act is not documented, or whether AWS takes both.

    ## Example

    ```yaml
    queue:
      time_limits:
        - reason: MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE
          after: 30m
        - reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
          after: 30m
        - reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED
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

    - Documented:
      [JobStateTimeLimitAction](https://docs.aws.amazon.com/batch/latest/APIReference/API_JobStateTimeLimitAction.html):
      one reason and one time each.
    - Inferred: two for one reason contradict each other. AWS does not document what it does with them.
    """

    id = "QM204"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each time limit whose reason an earlier one has."""
        first: dict[str, int] = {}
        for index, limit in enumerate(topology.queue.time_limits):
            earlier = first.setdefault(limit.reason, index)
            if earlier != index:
                known = format_milliseconds(topology.queue.time_limits[earlier].after)
                yield Problem(
                    ("queue", "time_limits", index, "reason"),
                    f"{described(limit.reason)} has a time limit of {known} already, "
                    f"and another of {format_milliseconds(limit.after)} here",
                    "keep one of them",
                )
