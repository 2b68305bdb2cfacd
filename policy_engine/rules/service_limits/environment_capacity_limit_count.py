"""QM102: the number of capacity limits of the service environment."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, Spot, TopologyRule
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_CAPACITY_LIMITS


class EnvironmentCapacityLimitCount(TopologyRule):
    """No capacity limit on the environment, or more than 5.

    ## What it checks

    The number of instance types in the topology's `capacity`.

    ## Why it matters

    The service environment needs at least one capacity limit, and takes at most five with quota management. The
    deployment would fail.

    ## Example

    ```yaml
    capacity: {ml.g5.xlarge: 1, ml.g5.2xlarge: 1, ml.g5.4xlarge: 1,
               ml.g5.8xlarge: 1, ml.g5.12xlarge: 1, ml.g5.48xlarge: 1}
    ```

    ## Use instead

    At most five instance types. A sixth needs a queue and a service environment of its own.

    ```yaml
    capacity: {ml.g5.xlarge: 1, ml.g5.2xlarge: 1, ml.g5.4xlarge: 1,
               ml.g5.12xlarge: 1, ml.g5.48xlarge: 1}
    ```

    ## References

    - Documented: [Create quota management
      resources](https://docs.aws.amazon.com/batch/latest/userguide/create-quota-management-resources.html): 1 to 5
      capacity limits, as the console's text puts it.
    - Documented:
      [CreateServiceEnvironment](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateServiceEnvironment.html):
      `capacityLimits` is required.
    - Inferred: the API refuses a sixth, as the console does.
    """

    id = "QM102"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The environment's capacity as a whole."""
        count = len(topology.capacity)
        if 1 <= count <= MAX_CAPACITY_LIMITS:
            return
        yield Problem(
            ("capacity",),
            f"the environment has {count or 'no'} capacity limits; AWS expects 1 to {MAX_CAPACITY_LIMITS}",
            "move some instance types to a second queue" if count else "name an instance type, as in ml.g5.xlarge: 16",
            Spot.KEY,
        )
