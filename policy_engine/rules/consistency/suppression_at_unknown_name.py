"""QM212: suppressions at places that the topology does not have."""

from collections.abc import Iterator, Sequence

from policy_engine.diagnostics import Finding, Severity, described
from policy_engine.rules.hints import Hints
from policy_engine.rules.kinds import Problem, SuppressionRule
from policy_engine.rules.suppressing import places
from policy_engine.topology.model import Topology


class SuppressionAtUnknownName(SuppressionRule):
    """Suppression at a name that the topology does not have.

    ## What it checks

    That `at` of each suppression, where it is given, is the name of a team, of a quota share, or of an instance type of
    the environment.

    ## Why it matters

    It suppresses nothing. The name is misspelt, or the share has another name now.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-large: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    suppressions:
      - {rule: QM313, at: search-lage, reason: jobs of both types are rare}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-large:
            capacity: {ml.g5.xlarge: 4, ml.g5.12xlarge: 2}
            strategy: RESERVE
    suppressions:
      - {rule: QM313, at: search-large, reason: jobs of both types are rare}
    ```

    ## References

    - Ours: `suppressions` is a key of the topology.
    """

    id = "QM212"
    severity = Severity.WARNING

    def problems(self, topology: Topology, found: Sequence[Finding]) -> Iterator[Problem]:
        """Each suppression whose place is not known."""
        known = places(topology)
        hints = Hints(known, "leave `at` out to suppress the rule everywhere")
        for index, suppression in enumerate(topology.suppressions):
            if suppression.at is not None and suppression.at not in known:
                yield Problem(
                    ("suppressions", index, "at"),
                    f"the topology has no team, share or instance type {described(suppression.at)}, "
                    "so this suppresses nothing",
                    hints.about(suppression.at),
                )
