"""QM301: capacity in no share's limit."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.rules.units import is_instance_type
from policy_engine.topology.model import Topology


class StrandedCapacity(TopologyRule):
    """Capacity that no quota share has.

    ## What it checks

    That the quota shares' limits for each instance type add up to no less than the environment's capacity.

    ## Why it matters

    A share's jobs use the share's own limit and what other shares lend. Instances in no share's limit are lent by
    nobody, and idle for good.

    ## Example

    ```yaml
    capacity: {ml.g5.xlarge: 16}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND_AND_BORROW
    ```

    ## Use instead

    A lending share for the rest, if nobody is to own it.

    ```yaml
    capacity: {ml.g5.xlarge: 16}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 8}
            strategy: LEND_AND_BORROW
    ```

    ## References

    - Documented: [Jobs stuck in RUNNABLE due to
      misconfiguration](https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable_misconfiguration.html):
      a job that needs more than its share's limit and all configured borrowable capacity is stuck, and that capacity is
      the other shares' limits.
    - Inferred: so nobody can use the rest. The replay follows this, unless `assumptions` says `unallocated_capacity:
      borrowable`.
    """

    id = "QM301"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each instance type with some left, unless there is no share at all."""
        amounts = Amounts(topology)
        if next(topology.quota_shares(), None) is None:
            return
        for unit in filter(is_instance_type, topology.capacity):
            there, allocated = amounts.capacity(unit), amounts.allocated(unit)
            if allocated < there:
                lower = f"lower the environment's to {allocated}" if allocated else "take it out of the environment"
                yield Problem(
                    ("capacity", unit),
                    f"{there - allocated} of {there} {unit} are in no share's limit, so nobody can use them",
                    f"raise the shares' limits by {there - allocated} in all, or {lower}",
                )
