"""QM307: borrow limits of less than one instance."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import limits, listed
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class BorrowLimitRoundsToZero(TopologyRule):
    """Borrow limit of less than one instance.

    ## What it checks

    That a share's `borrow_limit`, a percentage of its own limit for each instance type, is at least one instance of
    each.

    ## Why it matters

    Nobody borrows half an instance. The share never borrows that type, although it looks as if it could.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.48xlarge: 3}
            strategy: LEND_AND_BORROW
          search-background:
            capacity: {ml.g5.48xlarge: 1}
            strategy: LEND_AND_BORROW
            borrow_limit: 50
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.48xlarge: 3}
            strategy: LEND_AND_BORROW
          search-background:
            capacity: {ml.g5.48xlarge: 1}
            strategy: LEND_AND_BORROW
            borrow_limit: 100
    ```

    ## References

    - Documented: [CreateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html):
      the borrow limit is a percentage of the share's own limit for each unit.
    - Inferred: fractions are rounded down. AWS does not document it.
    """

    id = "QM307"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each borrower with instance types of which its borrow limit is a fraction of one."""
        for owned in topology.quota_shares():
            percent = owned.share.borrow_percent
            fractions = [(unit, own) for unit, own in limits(owned.share) if 0 < own * percent < 100]
            if fractions:
                amounts = listed(
                    [f"{own * percent / 100:g} of an {unit} ({percent} % of {own})" for unit, own in fractions]
                )
                yield Problem(
                    (*share_path(owned), "borrow_limit"),
                    f"{share_named(owned)} may borrow {amounts}, which rounds down to none",
                    f"write borrow_limit: {-(-100 // min(own for _, own in fractions))} or more",
                )
