"""QM211: suppressions of what is no rule."""

from collections.abc import Iterator, Sequence

from policy_engine.diagnostics import Finding, Severity, described
from policy_engine.rules.hints import Hints
from policy_engine.rules.kinds import Problem, SuppressionRule
from policy_engine.rules.registry import registry
from policy_engine.topology.model import Topology


class SuppressionOfUnknownRule(SuppressionRule):
    """Suppression of a rule that does not exist.

    ## What it checks

    That each of the topology's `suppressions` names a rule that `batch-quota rules` lists.

    ## Why it matters

    It suppresses nothing. The id is misspelt, or the rule is gone.

    ## Example

    ```yaml
    suppressions:
      - {rule: QM399, reason: bought capacity ahead of need}
    ```

    ## Use instead

    ```yaml
    capacity: {ml.g5.xlarge: 8}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    suppressions:
      - {rule: QM301, at: ml.g5.xlarge, reason: bought capacity ahead of need}
    ```

    ## References

    - Ours: `suppressions` is a key of the topology.
    """

    id = "QM211"
    severity = Severity.WARNING

    def problems(self, topology: Topology, found: Sequence[Finding]) -> Iterator[Problem]:
        """Each suppression whose rule is not known."""
        hints = Hints(registry().keys(), "`batch-quota rules` lists the rules")
        for index, suppression in enumerate(topology.suppressions):
            if suppression.rule not in registry():
                yield Problem(
                    ("suppressions", index, "rule"),
                    f"there is no rule {described(suppression.rule)}, so this suppresses nothing",
                    hints.about(suppression.rule),
                )
