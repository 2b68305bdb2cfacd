"""QM205: quantities of largest jobs."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, largest_jobs
from policy_engine.topology.model import Topology


class LargestJobQuantity(TopologyRule):
    """Largest job of no instances.

    ## What it checks

    That each `largest_job` names an instance type, with at least one instance.

    ## Why it matters

    A job needs instances. Nothing can be checked about one that needs none.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            largest_job: {ml.g5.xlarge: 0}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            largest_job: {ml.g5.xlarge: 4}
    ```

    ## References

    - Ours: `largest_job` is a key of the topology. AWS has nothing like it.
    """

    id = "QM205"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each quantity below 1, and each largest job without any."""
        mend = "write how many instances the largest job needs, or leave largest_job out"
        for owner, path, need in largest_jobs(topology):
            if not need:
                yield Problem(path, f"{owner} needs no instances", mend, Spot.KEY)
            for unit, count in need.items():
                if count < 1:
                    yield Problem((*path, unit), f"{owner} needs {count} of {described(unit)}", mend)
