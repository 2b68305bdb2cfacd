"""Whether a replay shows what its topology expects: each bound with the figure, and what broke it."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan

from policy_engine.assessment.costs import Costs
from policy_engine.assessment.culprits import culprit
from policy_engine.assessment.measuring import Target, has_target
from policy_engine.assessment.summary import Summary
from policy_engine.scheduler import Outcome
from policy_engine.topology import Expectation, Unit


@dataclass(frozen=True, slots=True)
class Verdict:
    """One expectation of a topology, and what the replay shows."""

    target: str
    """A share, a team, or `queue`."""
    expectation: Expectation
    measured: float
    """In the expectation's unit. Infinite if a job waits without end, NaN if there is nothing to measure."""
    because: str
    """What broke it: the worst job, the first preemption. Or why it is not judged. Empty if it holds."""
    job: str | None = None
    """The job that `because` is about."""
    at: int | None = None
    """The time, in ms, that `because` is about."""
    baseline: float = nan
    """The same figure of the baseline. NaN if there is none, or nothing to measure."""

    @property
    def judged(self) -> bool:
        """Whether there is anything to judge it by: a relative bound needs a figure of the baseline."""
        return not (self.expectation.relative and isnan(self.baseline))

    @property
    def held(self) -> bool:
        """Whether the expectation is met. One that cannot be measured, or is not judged, is not."""
        return self.expectation.holds(self.measured, self.baseline)

    @property
    def broken(self) -> bool:
        """Whether the expectation is judged and not met."""
        return self.judged and not self.held


@dataclass(frozen=True, eq=False, slots=True)
class Replayed:
    """An outcome with its figures."""

    outcome: Outcome
    summary: Summary
    costs: Costs

    def target(self, name: str) -> Target:
        """The figures of a share, a team or `queue`."""
        return Target(self.outcome, self.summary, self.costs, name)


def check_expectations(replayed: Replayed, baseline: Replayed | None = None) -> tuple[Verdict, ...]:
    """Judge every expectation of the outcome's topology, in the order of the topology.

    Waits count every job that was submitted, but not those that were refused or terminated before they ran. A job that
    was never dispatched has waited without end. If the replay was stopped early, jobs that could still run have waited
    until then, and have not `never_ran`.
    """
    return tuple(
        verdict
        for name, expectations in replayed.outcome.topology.expectations.items()
        for verdict in _verdicts(replayed.target(name), expectations.stated(), baseline)
    )


def _verdicts(target: Target, expectations: tuple[Expectation, ...], baseline: Replayed | None) -> Iterator[Verdict]:
    there = baseline is not None and has_target(baseline.outcome, target.name)
    compared = baseline.target(target.name) if baseline is not None and there else None
    for expectation in expectations:
        measured = target.measured(expectation.metric)
        if not expectation.relative:
            yield _verdict(target, expectation, measured, nan)
        elif compared is None:
            why = "no baseline is given" if baseline is None else f"the baseline has no {target.name}"
            yield Verdict(target.name, expectation, measured, why)
        else:
            figure = compared.measured(expectation.metric)
            if isnan(figure):
                why = f"in the baseline, {_unmeasured(compared, expectation)}"
                yield Verdict(target.name, expectation, measured, why)
            else:
                yield _verdict(target, expectation, measured, figure)


def _verdict(target: Target, expectation: Expectation, measured: float, baseline: float) -> Verdict:
    if expectation.holds(measured, baseline):
        return Verdict(target.name, expectation, measured, "", baseline=baseline)
    if isnan(measured):
        return Verdict(target.name, expectation, measured, _unmeasured(target, expectation), baseline=baseline)
    factor = expectation.factor
    bound = expectation.value if factor is None else factor * baseline + expectation.value
    found = culprit(target, expectation, bound)
    return Verdict(target.name, expectation, measured, found.because, found.job, found.at, baseline)


def _unmeasured(target: Target, expectation: Expectation) -> str:
    if expectation.unit is not Unit.MONEY:
        return "there is nothing to measure"
    costs = target.costs
    return "no prices are given" if costs.prices is None else f"there is no price of {', '.join(costs.unpriced)}"
