"""QM203: borrow limits of shares that do not borrow."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class BorrowLimitWithoutBorrowing(TopologyRule):
    """Borrow limit of a share that does not borrow.

    ## What it checks

    That only shares with strategy `LEND_AND_BORROW` have a `borrow_limit`.

    ## Why it matters

    A RESERVE or LEND share never borrows. AWS takes a borrow limit with LEND_AND_BORROW only.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND
            borrow_limit: 100
          search-background:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND_AND_BORROW
    ```

    ## Use instead

    The strategy that was meant, or no borrow limit.

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND_AND_BORROW
            borrow_limit: 100
          search-background:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND_AND_BORROW
    ```

    ## References

    - Documented: [CreateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html):
      `borrowLimit` can only be applied with `LEND_AND_BORROW`.
    - Inferred: AWS refuses it with another strategy, also when it is -1.
    """

    id = "QM203"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each borrow limit that limits nothing."""
        for owned in topology.quota_shares():
            share = owned.share
            if share.borrow_limit is not None and not share.strategy.borrows:
                yield Problem(
                    (*share_path(owned), "borrow_limit"),
                    f"{share_named(owned)} has a borrow limit of {share.borrow_limit} %, "
                    f"but a share with strategy {share.strategy} does not borrow",
                    "remove the borrow limit, or write strategy: LEND_AND_BORROW",
                )
