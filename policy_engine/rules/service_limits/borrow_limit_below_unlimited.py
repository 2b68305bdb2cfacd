"""QM109: the range of borrow limits."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import UNLIMITED, Topology


class BorrowLimitBelowUnlimited(TopologyRule):
    """Borrow limit below -1.

    ## What it checks

    That each `borrow_limit` is -1 (unlimited) or more.

    ## Why it matters

    A borrow limit is a percentage, and -1 stands for unlimited. AWS refuses less, and the deployment would fail.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 2}
            strategy: LEND_AND_BORROW
            borrow_limit: -100
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 2}
            strategy: LEND_AND_BORROW
            borrow_limit: 100
    ```

    ## References

    - Documented:
      [AWS::Batch::QuotaShare](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-quotashare.html):
      the minimum of `BorrowLimit` is -1.
    - Documented: [CreateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html):
      -1 is unlimited, and the default.
    """

    id = "QM109"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each borrow limit below -1."""
        for owned in topology.quota_shares():
            limit = owned.share.borrow_limit
            if limit is not None and limit < UNLIMITED:
                yield Problem(
                    (*share_path(owned), "borrow_limit"),
                    f"{share_named(owned)} has a borrow limit of {limit} %; AWS expects 0 or more, or -1 for unlimited",
                    "write the percentage of its own limits that the share may borrow, or leave it out for unlimited",
                )
