"""QM304: shares that may borrow from nobody."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts, limits, listed
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class BorrowerWithoutLender(TopologyRule):
    """Share that may borrow, and nobody lends.

    ## What it checks

    That for each instance type of a LEND_AND_BORROW share another share with LEND or LEND_AND_BORROW has a limit.

    ## Why it matters

    The share never has more than its own limit. A larger job is stuck at its front.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: RESERVE}
          search-background:
            capacity: {ml.g5.xlarge: 2}
            strategy: LEND_AND_BORROW
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 2}
            strategy: LEND_AND_BORROW
    ```

    ## References

    - Documented: [Quota shares](https://docs.aws.amazon.com/batch/latest/userguide/quota-shares.html): shares borrow
      what LEND and LEND_AND_BORROW shares do not use; RESERVE shares do not lend.
    """

    id = "QM304"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each borrower with an instance type that it can borrow from nobody."""
        amounts = Amounts(topology)
        for owned in topology.quota_shares():
            share = owned.share
            wanted = [unit for unit, _ in limits(share) if share.borrow_cap(unit) != 0]
            missing = [unit for unit in wanted if amounts.lent_to(share, unit) == 0]
            if missing:
                otherwise = ", or write strategy: RESERVE" if missing == wanted else ""
                yield Problem(
                    (*share_path(owned), "strategy"),
                    f"{share_named(owned)} may borrow, but no other share lends {listed(missing)}",
                    f"let another share lend (LEND or LEND_AND_BORROW){otherwise}",
                )
