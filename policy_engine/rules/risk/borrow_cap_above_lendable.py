"""QM308: borrow limits beyond what is lent."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts, limits, listed
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class BorrowCapAboveLendable(TopologyRule):
    """Borrow limit beyond everything that could ever be lent.

    ## What it checks

    That a share's `borrow_limit` allows no more instances than the other lending shares have in their limits, all of
    them idle. A share with several instance types is reported only if its borrow limit is beyond for all of them.

    ## Why it matters

    The borrow limit never limits anything. Who set it expected more to borrow, or meant to hold the share back; and a
    job that needs it is stuck.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND_AND_BORROW
            borrow_limit: 200
    ```

    ## Use instead

    A limit that can be reached; or none.

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND_AND_BORROW
            borrow_limit: 100
    ```

    ## References

    - Documented: [Jobs stuck in RUNNABLE due to
      misconfiguration](https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable_misconfiguration.html):
      two shares of 4 with a borrow limit of 200 percent; a job of 10 is stuck, since 8 is the most that one could have.
    """

    id = "QM308"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each borrower whose borrow limit is beyond what is lent, for all instance types that are lent at all."""
        amounts = Amounts(topology)
        for owned in topology.quota_shares():
            share = owned.share
            caps = [
                (unit, cap, lent)
                for unit, _ in limits(share)
                if (cap := share.borrow_cap(unit)) and (lent := amounts.lent_to(share, unit))
            ]
            if caps and all(cap > lent for _, cap, lent in caps):
                beyond = listed([f"up to {cap} {unit}, of which the others have {lent}" for unit, cap, lent in caps])
                percent = _reachable_percent([(share.capacity[unit], lent) for unit, _, lent in caps])
                reachable = f"write borrow_limit: {percent}, or " if percent else ""
                yield Problem(
                    (*share_path(owned), "borrow_limit"),
                    f"{share_named(owned)} may borrow {beyond} to lend",
                    f"{reachable}leave it out, or let other shares lend more",
                )


def _reachable_percent(limits_and_lent: list[tuple[int, int]]) -> int | None:
    """The smallest borrow limit with which all that is lent could be borrowed, if there is one that goes no further."""
    percent, own, lent = max((-(-100 * lent // own), own, lent) for own, lent in limits_and_lent)
    return percent if own * percent // 100 <= lent else None
