"""QM107: the capacity unit of queues without quota management."""

from collections.abc import Iterator
from itertools import chain

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, capacities, largest_jobs
from policy_engine.rules.units import NUM_INSTANCES
from policy_engine.topology.model import Topology


class NumInstances(TopologyRule):
    """NUM_INSTANCES as a capacity unit.

    ## What it checks

    That no capacity limit counts in `NUM_INSTANCES`.

    ## Why it matters

    `NUM_INSTANCES` counts instances of all types together. It is the unit of first-in-first-out and fair-share queues.
    A service environment with quota management has a limit for each instance type, and so have its quota shares.

    ## Example

    ```yaml
    capacity: {NUM_INSTANCES: 16}
    teams:
      search:
        shares:
          search-prod: {capacity: {NUM_INSTANCES: 16}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    capacity: {ml.g5.xlarge: 16}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 16}, strategy: RESERVE}
    ```

    ## References

    - Documented: [CapacityLimit](https://docs.aws.amazon.com/batch/latest/APIReference/API_CapacityLimit.html): the
      instance type with quota management, otherwise `NUM_INSTANCES`.
    - Documented: [Create quota management
      resources](https://docs.aws.amazon.com/batch/latest/userguide/create-quota-management-resources.html): the limits
      of the environment are in instance types.
    """

    id = "QM107"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each place that counts in NUM_INSTANCES."""
        for owner, path, capacity in chain(capacities(topology), largest_jobs(topology)):
            if NUM_INSTANCES in capacity:
                yield Problem(
                    (*path, NUM_INSTANCES),
                    f"{owner} counts in NUM_INSTANCES, which adds up instances of all types; "
                    "quota management has a limit for each instance type",
                    "name the instance type, as in ml.g5.xlarge",
                    Spot.KEY,
                )
