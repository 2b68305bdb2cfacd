"""Two replays of one trace compared: figures, jobs and teams."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from policy_engine.assessment import Assessment, assess
from policy_engine.forecast.figures import side_by_side
from policy_engine.forecast.jobs import job_effects, team_effects
from policy_engine.forecast.variants import Variant, left_out, replay_variant
from policy_engine.pricing import Prices
from policy_engine.scheduler import Outcome
from policy_engine.topology.expectations import QUEUE
from policy_engine.trace import ControlEvent, JobTrace


@dataclass(frozen=True, eq=False, slots=True)
class Replay:
    """A variant with what its replay shows."""

    variant: Variant
    assessment: Assessment
    left_out: dict[str, int]
    """Jobs of the trace that could not be submitted to it, by share."""


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """A proposal beside what is there now, as data frames.

    `shares`, `teams` and `queue` have one row a name and figure: `name`, `metric`, `unit`, `current`, `proposed`,
    `difference` (proposed - current), as `policy_engine.forecast.figures.side_by_side` says. `jobs` has one row a job
    and `team_effects` one a team, as `job_effects` and `team_effects` in `policy_engine.forecast.jobs` say.
    """

    current: Replay
    proposed: Replay
    shares: pl.DataFrame
    teams: pl.DataFrame
    queue: pl.DataFrame
    jobs: pl.DataFrame
    team_effects: pl.DataFrame

    @property
    def broken(self) -> bool:
        """Whether the proposal breaks an expectation of its topology. Relative bounds are judged by the current one."""
        return self.proposed.assessment.broken


def compare(
    variants: Sequence[Variant],
    trace: JobTrace,
    *,
    events: Sequence[ControlEvent] = (),
    until: int | None = None,
    prices: Prices | None = None,
) -> tuple[Comparison, ...]:
    """Replay a trace on each variant, and compare all others with the first. Raises ValueError without any other."""
    if len(variants) < 2:
        raise ValueError("two variants at least are needed to compare")
    outcomes = [replay_variant(variant, trace, events=events, until=until) for variant in variants]
    current, *proposed = (
        assessed(variant, outcome, trace, baseline=outcomes[0], prices=prices)
        for variant, outcome in zip(variants, outcomes, strict=True)
    )
    return tuple(compared(current, replay) for replay in proposed)


def assessed(
    variant: Variant, outcome: Outcome, trace: JobTrace, *, baseline: Outcome, prices: Prices | None = None
) -> Replay:
    """A variant with its replay of a trace, judged by a baseline."""
    return Replay(variant, assess(outcome, prices=prices, baseline=baseline), left_out(variant, trace))


def compared(current: Replay, proposed: Replay) -> Comparison:
    """Compare two replays of one trace."""
    before, after = current.assessment, proposed.assessment
    jobs = job_effects(before.outcome, after.outcome)
    shares = dict.fromkeys([*before.summary.shares["share"], *after.summary.shares["share"]])
    teams = dict.fromkeys([*before.summary.teams["team"], *after.summary.teams["team"]])
    return Comparison(
        current=current,
        proposed=proposed,
        shares=side_by_side(before, after, shares),
        teams=side_by_side(before, after, teams),
        queue=side_by_side(before, after, [QUEUE]),
        jobs=jobs,
        team_effects=team_effects(jobs),
    )
