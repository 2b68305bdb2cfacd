"""QM302: limits that add up to more than there is."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.rules.units import is_instance_type
from policy_engine.topology.model import Topology


class OverCommittedCapacity(TopologyRule):
    """Quota shares that together exceed the environment's capacity.

    ## What it checks

    That the quota shares' limits for each instance type add up to no more than the environment's capacity. If those of
    the RESERVE shares alone add up to more, QM303 says so instead.

    ## Why it matters

    A limit looks like a promise: so many instances whenever the share has jobs. Together the shares cannot all have
    theirs. Who waits then, and whether anybody is preempted for it, is not documented.

    ## Example

    ```yaml
    capacity: {ml.g5.xlarge: 8}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 6}, strategy: RESERVE}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 6}, strategy: LEND_AND_BORROW}
          vision-background:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
    ```

    ## Use instead

    Limits that add up to what there is, and lending for the rest.

    ```yaml
    capacity: {ml.g5.xlarge: 8}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 3}, strategy: LEND_AND_BORROW}
          vision-background:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
    ```

    ## References

    - Documented: [Update a service
      environment](https://docs.aws.amazon.com/batch/latest/userguide/updating-service-environments.html): jobs are
      dispatched within the environment's capacity, which may be lowered at any time.
    - Inferred: so limits beyond it cannot all be used. That AWS accepts them is not documented.
    """

    id = "QM302"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each instance type of the environment with too little for all limits."""
        amounts = Amounts(topology)
        for unit in filter(is_instance_type, topology.capacity):
            there, allocated = amounts.capacity(unit), amounts.allocated(unit)
            if amounts.reserved(unit) <= there < allocated:
                yield Problem(
                    ("capacity", unit),
                    f"the shares' limits add up to {allocated} {unit}, {allocated - there} more than "
                    f"the environment's {there}",
                    f"lower the shares' limits by {allocated - there} in all, "
                    f"or raise the environment's capacity to {allocated}",
                )
