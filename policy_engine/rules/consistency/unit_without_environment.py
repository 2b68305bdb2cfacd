"""QM202: instance types that only shares have."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_named, share_path
from policy_engine.rules.units import is_instance_type
from policy_engine.topology.model import Topology


class UnitWithoutEnvironment(TopologyRule):
    """Quota share with an instance type that the environment lacks.

    ## What it checks

    That each instance type in a quota share's `capacity` is in the topology's `capacity` too.

    ## Why it matters

    A share has a part of the environment's capacity. Of a type that the environment lacks there is nothing to have: a
    job that needs it is stuck at the front of the share.

    ## Example

    ```yaml
    capacity: {ml.g5.xlarge: 4}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
          search-large: {capacity: {ml.p5.48xlarge: 1}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    capacity: {ml.g5.xlarge: 4, ml.p5.48xlarge: 1}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
          search-large: {capacity: {ml.p5.48xlarge: 1}, strategy: RESERVE}
    ```

    ## References

    - Documented: [CapacityLimit](https://docs.aws.amazon.com/batch/latest/APIReference/API_CapacityLimit.html): a job
      of a type without a limit in the environment waits until there is one.
    - Inferred: AWS refuses such a share, or its jobs are stuck for `MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE`.
      It is not documented which.
    """

    id = "QM202"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each capacity limit that the environment has no part for."""
        for owned in topology.quota_shares():
            for unit, count in owned.share.capacity.items():
                if unit not in topology.capacity and is_instance_type(unit):
                    yield Problem(
                        (*share_path(owned), "capacity", unit),
                        f"{share_named(owned)} has {count} {unit}, but the environment has none",
                        f"add {described(unit)} to the topology's capacity, or take it out of the share",
                        Spot.KEY,
                    )
