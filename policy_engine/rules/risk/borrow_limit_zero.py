"""QM306: borrow limits of 0 %."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class BorrowLimitZero(TopologyRule):
    """Borrow limit of 0 percent.

    ## What it checks

    That no LEND_AND_BORROW share has `borrow_limit: 0`.

    ## Why it matters

    The share borrows nothing: it is a LEND share with another name. If unlimited borrowing was meant, it does not get
    it; and tools that take 0 for absent make it unlimited, so what is deployed depends on the tool.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 8}
            strategy: LEND_AND_BORROW
            borrow_limit: 0
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

    - Documented: [CreateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html):
      the borrow limit is a percentage of the share's own limits; -1, the default, is unlimited.
    - Inferred: 0 percent is accepted, and nothing.
    - Observed: [the SageMaker Python SDK's
      examples](https://github.com/aws/sagemaker-python-sdk/tree/master/v3-examples/training-examples/aws_batch): the
      notebook's utilities leave out a borrow limit of 0, which makes it unlimited.
    """

    id = "QM306"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each borrower with a borrow limit of 0."""
        for owned in topology.quota_shares():
            if owned.share.strategy.borrows and owned.share.borrow_limit == 0:
                yield Problem(
                    (*share_path(owned), "borrow_limit"),
                    f"{share_named(owned)} has strategy LEND_AND_BORROW and a borrow limit of 0 %: it never borrows",
                    "write strategy: LEND without a borrow limit, or a borrow limit above 0",
                )
