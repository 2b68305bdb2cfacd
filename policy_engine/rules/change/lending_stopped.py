"""QM408: quota shares that stop lending."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class LendingStopped(ChangeRule):
    """Quota share that stops lending while it may have lent.

    ## What it checks

    That no share with LEND or LEND_AND_BORROW becomes RESERVE.

    ## Why it matters

    Jobs of other shares may be running on what it lends at that moment. AWS does not say whether they are stopped
    at once, once the share needs its capacity, or not at all. The other shares have less to borrow from then on: a
    job that needs more than they still can borrow never runs.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: RESERVE
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
              strategy: RESERVE
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    ```

    ## References

    - Documented: [Quota shares](https://docs.aws.amazon.com/batch/latest/userguide/quota-shares.html): RESERVE
      shares do not lend.
    - Documented:
      [UpdateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateQuotaShare.html): the
      strategy of a share can be changed.
    - Inferred: what becomes of capacity that is lent at that moment is not said.
    """

    id = "QM408"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each share that stays and stops lending."""
        for share in change.shares("update"):
            strategy = share.setting("strategy")
            if strategy is not None and strategy.new == "RESERVE":
                yield self.at_new(
                    change,
                    share,
                    f"share {described(share.name)} stops lending ({strategy.old} to RESERVE): "
                    "AWS does not say when jobs on what it has lent are stopped",
                    "switch it while it lends nothing, or expect those jobs to be preempted",
                    (*share.either.path, "strategy"),
                )
