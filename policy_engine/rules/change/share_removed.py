"""QM401: quota shares that go away."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule
from policy_engine.rules.renaming import renames

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class ShareRemoved(ChangeRule):
    """Quota share that is removed, with all its jobs.

    ## What it checks

    That no quota share of a queue that stays is removed.

    ## Why it matters

    All jobs of the share are terminated, the waiting and the running ones, and what they computed since their last
    checkpoint is lost. Nobody can submit to it any more. What it lent is no longer there to borrow.

    Disable the share first, wait until it has no jobs, and accept this finding when you remove it: `batch-quota
    diff --accept QM401@search-old …`.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
            search-old: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
    ```

    ## Use instead

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
            search-old: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    after: # refuses new jobs; remove it once it has none
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
            search-old:
              capacity: {ml.g5.xlarge: 2}
              strategy: LEND
              state: DISABLED
    ```

    ## References

    - Documented:
      [DeleteQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_DeleteQuotaShare.html): deleting
      a share terminates all of its jobs in the end.
    - Inferred: jobs that run on what the removed share lent lose their lender; AWS does not say what becomes of
      them.
    """

    id = "QM401"
    severity = Severity.ERROR

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each share that is removed, unless it is retained, or comes back under another name or logical id."""
        if change.queue_ends:
            return
        renamed = [old for old, _ in renames(change)]
        stay = {added.name for added in change.shares("add")}
        for share in change.shares("remove"):
            if not share.retained and share not in renamed and share.name not in stay:
                yield self.at_old(
                    change,
                    share,
                    f"share {described(share.name)} is removed: all its jobs are terminated, running and waiting",
                    f"disable it and wait until it has no jobs; then accept this with --accept {self.id}@{share.name}",
                )
