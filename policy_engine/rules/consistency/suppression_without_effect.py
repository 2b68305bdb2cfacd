"""QM213: suppressions that suppress nothing."""

from collections.abc import Iterator, Sequence

from policy_engine.diagnostics import Finding, Severity, described
from policy_engine.rules.kinds import ChangeRule, Problem, Rule, SuppressionRule
from policy_engine.rules.registry import registry
from policy_engine.rules.suppressing import acceptable, can_be_suppressed, places
from policy_engine.topology.model import Suppression, Topology


class SuppressionWithoutEffect(SuppressionRule):
    """Suppression that suppresses nothing.

    ## What it checks

    That each of the topology's `suppressions` accepts at least one finding.

    ## Why it matters

    What was accepted is no longer found: remove the suppression, lest it hides the same thing when it comes back for
    another reason. Errors and findings about suppressions cannot be accepted at all.

    ## Example

    ```yaml
    capacity: {ml.g5.xlarge: 4}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    suppressions:
      - {rule: QM301, reason: bought capacity ahead of need}
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

    - Ours: `suppressions` is a key of the topology.
    """

    id = "QM213"
    severity = Severity.WARNING

    def problems(self, topology: Topology, found: Sequence[Finding]) -> Iterator[Problem]:
        """Each suppression of a known rule, at a known place, that has nothing to accept."""
        known, could_accept = places(topology), acceptable(found)
        for index, suppression in enumerate(topology.suppressions):
            rule = registry().get(suppression.rule)
            somewhere = suppression.at is None or suppression.at in known
            if rule is None or not somewhere or (suppression.rule, suppression.at) in could_accept:
                continue
            path = ("suppressions", index, "rule")
            if can_be_suppressed(rule):
                message = f"{rule.id} finds nothing{_place(suppression)}, so this suppresses nothing"
                yield Problem(path, message, "remove the suppression")
            else:
                yield Problem(path, *_never_suppressed(rule))


def _never_suppressed(rule: Rule) -> tuple[str, str]:
    """What is wrong with suppressing a rule that cannot be, and how to mend it."""
    if isinstance(rule, ChangeRule):
        message = f"{rule.id} is about changes, which a topology cannot suppress"
        return message, f"remove the suppression, and accept a change with batch-quota diff --accept {rule.id}"
    about = "an error" if rule.severity is Severity.ERROR else "a finding about suppressions"
    message = f"{rule.id} is {about}, which cannot be suppressed"
    return message, f"mend what {rule.id} finds, and remove the suppression"


def _place(suppression: Suppression) -> str:
    return "" if suppression.at is None else f" at {described(suppression.at)}"
