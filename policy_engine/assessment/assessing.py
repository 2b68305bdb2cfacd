"""An outcome with all that is concluded from it: what every form of a report is made of."""

from dataclasses import dataclass

from policy_engine.assessment.costs import Costs, costs_of
from policy_engine.assessment.summary import Summary, summarize
from policy_engine.assessment.verdicts import Replayed, Verdict, check_expectations
from policy_engine.pricing import Prices
from policy_engine.scheduler import Outcome
from policy_engine.scheduler.livelock import Livelocks, find_livelocks


@dataclass(frozen=True, eq=False, slots=True)
class Assessment:
    """An outcome, its figures, its livelocks, and whether it shows what its topology expects."""

    outcome: Outcome
    summary: Summary
    costs: Costs
    livelocks: Livelocks
    verdicts: tuple[Verdict, ...]

    @property
    def broken(self) -> bool:
        """Whether any expectation is not met."""
        return any(verdict.broken for verdict in self.verdicts)


def assess(outcome: Outcome, *, prices: Prices | None = None, baseline: Outcome | None = None) -> Assessment:
    """Conclude what there is to conclude.

    Without `prices`, hours cost nothing that is known. `baseline` is the replay of another topology on the same trace,
    which bounds such as `<= baseline * 1.1` are relative to; without it they are not judged.
    """
    replayed = _replayed(outcome, prices)
    compared = None if baseline is None else _replayed(baseline, prices)
    return Assessment(
        outcome,
        replayed.summary,
        replayed.costs,
        find_livelocks(outcome),
        check_expectations(replayed, compared),
    )


def _replayed(outcome: Outcome, prices: Prices | None) -> Replayed:
    summary = summarize(outcome)
    return Replayed(outcome, summary, costs_of(summary, prices))
