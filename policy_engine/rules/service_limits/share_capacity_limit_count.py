"""QM103: the number of capacity limits of a quota share."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_CAPACITY_LIMITS


class ShareCapacityLimitCount(TopologyRule):
    """No capacity limit on a quota share, or more than 5.

    ## What it checks

    The number of instance types in the `capacity` of each quota share.

    ## Why it matters

    A quota share has one to five capacity limits. AWS refuses others, and the deployment would fail.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background: {capacity: {}, strategy: LEND_AND_BORROW}
          search-sweeps:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
    ```

    ## Use instead

    At least one instance of one type. A share that is to live on borrowed instances alone needs a limit too: what it
    may borrow is a percentage of it.

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
          search-sweeps:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
    ```

    ## References

    - Documented: [Quota shares](https://docs.aws.amazon.com/batch/latest/userguide/quota-shares.html): 1 to 5 capacity
      limits in a quota share.
    - Documented: [CreateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html):
      `capacityLimits` is required.
    """

    id = "QM103"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The capacity, as a whole, of each share with too few or too many."""
        for owned in topology.quota_shares():
            count = len(owned.share.capacity)
            if not 1 <= count <= MAX_CAPACITY_LIMITS:
                yield Problem(
                    (*share_path(owned), "capacity"),
                    f"{share_named(owned)} has {count or 'no'} capacity limits; AWS expects 1 to {MAX_CAPACITY_LIMITS}",
                    "make a share for each instance type" if count else "name an instance type, as in ml.g5.xlarge: 1",
                    Spot.KEY,
                )
