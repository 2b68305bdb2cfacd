"""QM305: shares that lend to nobody."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts, limits, listed
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import ResourceSharingStrategy, Topology


class LenderWithoutBorrower(TopologyRule):
    """Share that lends, and nobody borrows.

    ## What it checks

    That for each instance type of a LEND share another share with LEND_AND_BORROW, and a borrow limit that is more than
    0 instances, has a limit. LEND_AND_BORROW shares are not reported: there is no strategy that borrows and does not
    lend.

    ## Why it matters

    What the share does not use is idle, as with RESERVE. Who wrote LEND expected somebody to use it.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND_AND_BORROW}
    ```

    ## References

    - Documented: [Quota shares](https://docs.aws.amazon.com/batch/latest/userguide/quota-shares.html): only
      LEND_AND_BORROW shares borrow.
    - Inferred: a share borrows only instance types that it has a limit for, since a borrow limit is a percentage of it.
      With an unlimited borrow limit this is not documented.
    """

    id = "QM305"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each lender with an instance type that nobody may borrow."""
        amounts = Amounts(topology)
        for owned in topology.quota_shares():
            if owned.share.strategy is not ResourceSharingStrategy.LEND:
                continue
            lent = [unit for unit, _ in limits(owned.share)]
            unwanted = [unit for unit in lent if not amounts.others_borrow(owned.share, unit)]
            if unwanted:
                otherwise = ", or write strategy: RESERVE" if unwanted == lent else ""
                yield Problem(
                    (*share_path(owned), "strategy"),
                    f"{share_named(owned)} lends, but no other share may borrow {listed(unwanted)}",
                    f"let another share with a limit for {listed(unwanted)} borrow (LEND_AND_BORROW){otherwise}",
                )
