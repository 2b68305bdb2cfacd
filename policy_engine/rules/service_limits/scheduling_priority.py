"""QM111: the range of scheduling priorities."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_SCHEDULING_PRIORITY


class SchedulingPriority(TopologyRule):
    """Highest scheduling priority outside 0 to 9999.

    ## What it checks

    That each share's `max_priority` is from 0 to 9999.

    ## Why it matters

    Jobs have scheduling priorities from 0 to 9999. A bound above that bounds nothing, and no job fits one below.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            max_priority: 10000
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            max_priority: 9999
    ```

    ## References

    - Documented: [SubmitServiceJob](https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitServiceJob.html):
      `schedulingPriority` is from 0 to 9999.
    """

    id = "QM111"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each share's highest priority that no job could have."""
        for owned in topology.quota_shares():
            priority = owned.share.max_priority
            if priority is not None and not 0 <= priority <= MAX_SCHEDULING_PRIORITY:
                yield Problem(
                    (*share_path(owned), "max_priority"),
                    f"{share_named(owned)} allows priorities up to {priority}; "
                    f"AWS expects 0 to {MAX_SCHEDULING_PRIORITY}",
                    "write a number in this range, or leave it out for no bound",
                )
