"""An outcome with all that is concluded from it: what every form of a report is made of."""

from dataclasses import dataclass

from policy_engine.assessment.summary import Summary, summarize
from policy_engine.assessment.verdicts import Verdict, check_expectations
from policy_engine.scheduler import Outcome
from policy_engine.scheduler.livelock import Livelocks, find_livelocks


@dataclass(frozen=True, eq=False, slots=True)
class Assessment:
    """An outcome, its figures, its livelocks, and whether it shows what its topology expects."""

    outcome: Outcome
    summary: Summary
    livelocks: Livelocks
    verdicts: tuple[Verdict, ...]

    @property
    def broken(self) -> bool:
        """Whether any expectation is not met."""
        return not all(verdict.held for verdict in self.verdicts)


def assess(outcome: Outcome) -> Assessment:
    """Conclude what there is to conclude."""
    summary = summarize(outcome)
    return Assessment(outcome, summary, find_livelocks(outcome), check_expectations(outcome, summary))
