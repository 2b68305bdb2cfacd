"""QM313: shares of several instance types."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import limits, listed
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class SeveralCapacityUnits(TopologyRule):
    """Quota share of several instance types.

    ## What it checks

    That each quota share has a capacity limit for one instance type.

    ## Why it matters

    A share is one queue with one front. A job at the front that waits for one instance type may hold up jobs of the
    others behind it while their instances are idle. Replaying 82,247 jobs of a public trace, 69 of 163 instances were
    idle on average with such shares, and the mean wait was 7 days; with a queue for each instance type it was half a
    day.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 8, ml.g5.48xlarge: 2}
            strategy: RESERVE
    ```

    ## Use instead

    One share an instance type. Jobs that need several types at once do need a share of several: suppress this rule with
    that reason.

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: RESERVE}
          search-prod-large: {capacity: {ml.g5.48xlarge: 2}, strategy: RESERVE}
    ```

    ## References

    - Documented: [Jobs stuck in a RUNNABLE
      status](https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable.html): a job can block the
      front of its queue.
    - Documented:
      [GetJobQueueSnapshot](https://docs.aws.amazon.com/batch/latest/APIReference/API_GetJobQueueSnapshot.html): each
      share has one front.
    - Inferred: so jobs of other instance types wait too. AWS does not document it; it is the replay's assumption
      `head_of_line`.
    """

    id = "QM313"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each share with limits for more than one instance type."""
        for owned in topology.quota_shares():
            units = [unit for unit, _ in limits(owned.share)]
            if len(units) > 1:
                yield Problem(
                    (*share_path(owned), "capacity"),
                    f"{share_named(owned)} has limits for {len(units)} instance types ({listed(units)}): "
                    "a job that waits for one may hold up jobs of the others",
                    "make a share for each instance type",
                    Spot.KEY,
                )
