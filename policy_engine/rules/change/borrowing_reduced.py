"""QM409: quota shares that may borrow less."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class BorrowingReduced(ChangeRule):
    """Quota share that may borrow less than before.

    ## What it checks

    That no share stops borrowing, and that no borrow limit is lowered.

    ## Why it matters

    Jobs of the share may be running on borrowed capacity at that moment. AWS does not say whether those beyond the
    new limit are stopped at once, once the lender needs its capacity, or not at all. Waiting jobs that need to
    borrow more never run.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND_AND_BORROW
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    ```

    ## Use instead

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND_AND_BORROW
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND_AND_BORROW
    ```

    ## References

    - Documented: [Quota shares](https://docs.aws.amazon.com/batch/latest/userguide/quota-shares.html): LEND and
      RESERVE shares do not borrow; a borrow limit bounds what is borrowed.
    - Documented:
      [UpdateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateQuotaShare.html): strategy
      and borrow limit of a share can be changed.
    - Inferred: what becomes of jobs that are beyond the new limit is not said.
    """

    id = "QM409"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each share that stays and may borrow less."""
        for share in change.shares("update"):
            strategy, limit = share.setting("strategy"), share.setting("borrow limit")
            if strategy is not None and strategy.old == "LEND_AND_BORROW":
                what, key = f"stops borrowing (LEND_AND_BORROW to {strategy.new})", "strategy"
            elif limit is not None and strategy is None and limit.lowered:
                what, key = f"may borrow less (from {limit.old} to {limit.new})", "borrow_limit"
            else:
                continue
            yield self.at_new(
                change,
                share,
                f"share {described(share.name)} {what}: "
                "AWS does not say when its jobs on borrowed capacity are stopped",
                "change it while the share borrows nothing, or expect those jobs to be preempted",
                (*share.either.path, key),
            )
