"""Findings as the CDK reports them: violations, each with the resources and properties that it is about."""

from collections.abc import Iterator, Mapping

from aws_cdk import PolicyViolatingResource, PolicyViolation

from policy_engine.diagnostics import Severity
from policy_engine.template import Place, TemplateProblem
from policy_engine.topology.reading_errors import ReadingError

_SEVERITIES = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "info"}
_NOT_KNOWN = frozenset(
    {ReadingError.UNKNOWN_UNTIL_DEPLOYMENT, ReadingError.MADE_ELSEWHERE, ReadingError.UNDECIDED_CONDITION}
)
"""What only deployment decides. Anything else that cannot be read is refused there."""


class Violations:
    """Collects violations. What is the same of several resources is one violation."""

    def __init__(self, stacks: Mapping[str, str]) -> None:
        """Start without any.

        :param stacks: Construct paths of stacks by the paths of their templates, for what is about a whole template.
        """
        self._stacks = stacks
        self._resources: dict[tuple[str, Severity, str, str], list[Place]] = {}

    def add(self, rule: str, severity: Severity, message: str, mend: str, *places: Place) -> None:
        """Note what is wrong, how to mend it, and where it is."""
        self._resources.setdefault((rule, severity, message, mend), []).extend(places)

    def add_problem(self, problem: TemplateProblem) -> None:
        """Note what stands in the way of judging a queue: a warning, if the app may be right all the same."""
        severity = Severity.WARNING if problem.error in _NOT_KNOWN else problem.severity
        self.add(problem.error.value, severity, problem.message, problem.help, problem.place)

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(severity is Severity.ERROR for _, severity, _, _ in self._resources)

    def reported(self) -> Iterator[PolicyViolation]:
        """All violations, as the CDK takes them."""
        for (rule, severity, message, mend), places in self._resources.items():
            yield PolicyViolation(
                rule_name=rule,
                description=message,
                fix=mend or None,
                severity=_SEVERITIES[severity],
                violating_resources=[self._resource(place) for place in places],
            )

    def _resource(self, place: Place) -> PolicyViolatingResource:
        if place.logical_id is None:
            return PolicyViolatingResource(construct_path=self._stacks.get(place.template, ""), locations=[])
        return PolicyViolatingResource(
            resource_logical_id=place.logical_id,
            template_path=place.template,
            locations=[place.location or "Properties"],
        )
