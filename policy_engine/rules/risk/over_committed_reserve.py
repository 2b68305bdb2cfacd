"""QM303: reservations that add up to more than there is."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.rules.units import is_instance_type
from policy_engine.topology.model import Topology


class OverCommittedReserve(TopologyRule):
    """RESERVE shares that together exceed the environment's capacity.

    ## What it checks

    That the limits of the RESERVE shares for each instance type add up to no more than the environment's capacity.

    ## Why it matters

    RESERVE keeps idle instances for the share alone. What is reserved here is not there: one team's jobs wait although
    its reservation is free. And whatever other shares there are, they may never get an instance.

    ## Example

    ```yaml
    capacity: {ml.g5.xlarge: 8}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 6}, strategy: RESERVE}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 6}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    capacity: {ml.g5.xlarge: 8}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [Quota shares](https://docs.aws.amazon.com/batch/latest/userguide/quota-shares.html): RESERVE keeps
      idle capacity for the share.
    - Inferred: it cannot keep what the environment does not have. That AWS accepts such limits is not documented.
    """

    id = "QM303"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each instance type of the environment with too little for all reservations."""
        amounts = Amounts(topology)
        for unit in filter(is_instance_type, topology.capacity):
            there, reserved = amounts.capacity(unit), amounts.reserved(unit)
            if there < reserved:
                yield Problem(
                    ("capacity", unit),
                    f"the RESERVE shares' limits add up to {reserved} {unit}, {reserved - there} more than "
                    f"the environment's {there}",
                    f"lower them by {reserved - there} in all, or raise the environment's capacity to {reserved}",
                )
