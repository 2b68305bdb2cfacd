"""QM207: queues without shares."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, Spot, TopologyRule
from policy_engine.topology.model import Topology


class NoShares(TopologyRule):
    """No quota share at all.

    ## What it checks

    That the topology has at least one quota share.

    ## Why it matters

    A job of a queue with quota management names its quota share. Without one nothing can be submitted, and the whole
    capacity is idle.

    ## Example

    ```yaml
    capacity: {ml.g5.xlarge: 4}
    teams: {}
    ```

    ## Use instead

    ```yaml
    capacity: {ml.g5.xlarge: 4}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [SubmitServiceJob](https://docs.aws.amazon.com/batch/latest/APIReference/API_SubmitServiceJob.html):
      `quotaShareName` must be given if the queue has a quota share policy.
    """

    id = "QM207"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The teams as a whole."""
        if next(topology.quota_shares(), None) is None:
            yield Problem(
                ("teams",),
                "the queue has no quota share, so no job can be submitted",
                "add a share to a team",
                Spot.KEY,
            )
