"""QM210: assumptions about instance types that the topology does not have."""

from collections.abc import Iterator

from policy_engine.assumptions import DEFAULT_UNIT
from policy_engine.diagnostics import Severity, described
from policy_engine.rules.hints import Hints
from policy_engine.rules.kinds import Problem, Spot, TopologyRule
from policy_engine.topology.model import Topology

_TABLES = ("provision_seconds", "startup_seconds")


class LatencyOfUnknownUnit(TopologyRule):
    """Assumed latency of an instance type that nobody has.

    ## What it checks

    That `provision_seconds` and `startup_seconds` in `assumptions` name only instance types of the topology, beside
    `default`.

    ## Why it matters

    The entry has no effect: the replay takes the default for the type that was meant, and says nothing of it.

    ## Example

    ```yaml
    capacity: {ml.g5.48xlarge: 4}
    assumptions:
      startup_seconds: {default: 3m, ml.g5.48large: 6m}
    ```

    ## Use instead

    ```yaml
    capacity: {ml.g5.48xlarge: 4}
    assumptions:
      startup_seconds: {default: 3m, ml.g5.48xlarge: 6m}
    ```

    ## References

    - Ours: `assumptions` is a key of the topology.
    """

    id = "QM210"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each entry of the two tables that nothing will look up."""
        known = {*topology.units(), DEFAULT_UNIT}
        hints = Hints(known, "remove the entry")
        for table in _TABLES:
            units: dict[str, int] = getattr(topology.assumptions, table)
            for unit in units:
                if unit not in known:
                    yield Problem(
                        ("assumptions", table, unit),
                        f"{table} has an entry for {described(unit)}, which no capacity of the topology names",
                        hints.about(unit),
                        Spot.KEY,
                    )
