"""QM314: disabled shares that have capacity."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import limits, listed
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import ShareState, Topology


class DisabledShare(TopologyRule):
    """Disabled share that keeps its capacity.

    ## What it checks

    That no quota share is `DISABLED`, since each has capacity limits.

    ## Why it matters

    A disabled share takes no new jobs, but its limits stay. Of a RESERVE share nobody uses them once its jobs have
    ended. Of a lending share others may borrow them; whether a disabled share still lends is not documented.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
          search-retired:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            state: DISABLED
    ```

    ## Use instead

    Once its jobs have ended, remove the share and give its limits to others. Removing it earlier terminates its jobs.

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: RESERVE}
    ```

    ## References

    - Documented: [CreateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html): a
      disabled share takes no new jobs; those submitted can finish.
    - Documented: [DeleteQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_DeleteQuotaShare.html):
      deleting a share terminates its jobs.
    - Inferred: a disabled share's limits still count, and it still lends. The replay assumes both.
    """

    id = "QM314"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each disabled share with a limit."""
        for owned in topology.quota_shares():
            kept = [f"{own} {unit}" for unit, own in limits(owned.share)]
            if owned.share.state is ShareState.DISABLED and kept:
                use = (
                    "they can only be lent, if a disabled share lends"
                    if owned.share.strategy.lends
                    else "nobody can use them"
                )
                yield Problem(
                    (*share_path(owned), "state"),
                    f"{share_named(owned)} is DISABLED and keeps {listed(kept)}: once its jobs have ended, {use}",
                    "enable it; or, once its jobs have ended, remove it and raise the limits of other shares",
                )
