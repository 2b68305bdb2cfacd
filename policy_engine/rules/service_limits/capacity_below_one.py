"""QM106: quantities in capacity limits."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule, capacities
from policy_engine.topology.model import Topology


class CapacityBelowOne(TopologyRule):
    """Capacity limit below 1.

    ## What it checks

    That each capacity limit, of the environment and of each quota share, is at least one instance.

    ## Why it matters

    AWS refuses a share's limit below 1, and the deployment would fail. No job could use an environment's limit of 0.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 0}
            strategy: LEND_AND_BORROW
          search-sweeps:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
    ```

    ## Use instead

    At least 1; or leave the instance type out. A share that is to live on borrowed instances needs a limit too: what it
    may borrow is a percentage of it.

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 3}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
          search-sweeps:
            capacity: {ml.g5.xlarge: 1}
            strategy: LEND_AND_BORROW
    ```

    ## References

    - Documented:
      [AWS::Batch::QuotaShare](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-quotashare.html):
      the minimum of `MaxCapacity` is 1.
    - Inferred: the same for the service environment, where AWS publishes no minimum.
    """

    id = "QM106"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each limit below 1."""
        for owner, path, capacity in capacities(topology):
            for unit, count in capacity.items():
                if count < 1:
                    yield Problem(
                        (*path, unit),
                        f"{owner} has a capacity limit of {count} for {described(unit)}; AWS expects at least 1",
                        "write the number of instances, or leave the instance type out",
                    )
