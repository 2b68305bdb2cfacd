"""QM312: in-share preemption among equals."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class InSharePreemptionWithoutPriorities(TopologyRule):
    """In-share preemption in a share whose jobs all have one priority.

    ## What it checks

    That a share with `in_share_preemption: true` does not have `max_priority: 0`.

    ## Why it matters

    In-share preemption stops a job for one of higher priority. If submitters may ask for nothing but priority 0, no job
    has a higher one, and nothing is ever preempted.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            in_share_preemption: true
            max_priority: 0
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            in_share_preemption: true
            max_priority: 500
    ```

    ## References

    - Documented: [Preemption](https://docs.aws.amazon.com/batch/latest/userguide/preemption.html): jobs are preempted
      for higher-priority jobs of their share.
    - Inferred: a job of equal priority preempts nobody.
    """

    id = "QM312"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each share where in-share preemption cannot happen."""
        for owned in topology.quota_shares():
            if owned.share.in_share_preemption and owned.share.max_priority == 0:
                yield Problem(
                    (*share_path(owned), "max_priority"),
                    f"{share_named(owned)} has in-share preemption, but max_priority 0: "
                    "none of its jobs outranks another, so none is preempted for one",
                    "raise max_priority, or leave in_share_preemption out",
                )
