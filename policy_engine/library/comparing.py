"""Comparing replays of one trace."""

import json
from dataclasses import dataclass

import polars as pl

from policy_engine.assessment import assess
from policy_engine.change import QueueChange, setup_of_topology
from policy_engine.change import compare as compare_setups
from policy_engine.forecast import comparing
from policy_engine.library.replaying import Replay
from policy_engine.topology import SourceMap, Topology

JOBS_SHOWN = 5
"""Jobs that gain, and that lose, in the report and in the document."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A proposal beside what is there now, as polars data frames. Their columns and units are in the guide."""

    current: Replay
    proposed: Replay
    """As it was replayed, with its expectations judged anew by the current replay."""
    shares: pl.DataFrame
    """One row a share and metric: `name`, `metric`, `unit`, `current`, `proposed`, `difference`."""
    teams: pl.DataFrame
    """The same of teams."""
    queue: pl.DataFrame
    """The same of the queue."""
    jobs: pl.DataFrame
    """One row a job: what it was before and is then, and whether it gains or loses."""
    team_effects: pl.DataFrame
    """One row a team: how many of its jobs gain and lose."""
    changes: tuple[QueueChange, ...]
    """What differs in the resources that a deployment would make."""
    compared: comparing.Comparison
    """What reports are made of."""

    @property
    def passed(self) -> bool:
        """Whether the proposal breaks no expectation of its topology."""
        return self.proposed.passed

    def document(self) -> dict[str, object]:
        """What `batch-quota compare --format json` prints, as Python data."""
        from policy_engine.report.comparison_json import comparison_json

        document: dict[str, object] = json.loads(comparison_json([self.compared], self._changes, jobs=JOBS_SHOWN))
        return document

    @property
    def _changes(self) -> dict[str, tuple[QueueChange, ...]]:
        """By the label of the proposal, as reports want them."""
        same = self.current.variant.topology == self.proposed.variant.topology
        return {} if same else {self.proposed.label: self.changes}

    def __str__(self) -> str:
        """The report of `batch-quota compare`."""
        from policy_engine.report.comparison_text import comparison_text

        return comparison_text([self.compared], self._changes, jobs=JOBS_SHOWN, color=False)

    def __repr__(self) -> str:
        return f"<Comparison of {self.proposed.label} with {self.current.label}>"


def compare(current: Replay, proposed: Replay) -> Comparison:
    """Lay two replays of one trace side by side: figures, who gains and who loses.

    Bounds of the proposal that are relative to a baseline are judged by the current replay. Two replays of one topology
    under different assumptions show what hangs on these. Jobs are matched by their ids.

    :raises ValueError: If both have the same label, which nobody could tell apart.
    """
    if current.label == proposed.label:
        raise ValueError(f"both replays are called {current.label!r}; name them by replay(…, label=…)")
    prices = proposed.assessment.costs.prices
    judged = Replay(
        proposed.variant,
        assess(proposed.outcome, prices=prices, baseline=current.outcome),
        proposed.left_out,
    )
    sides = [comparing.Replay(side.variant, side.assessment, dict(side.left_out)) for side in (current, judged)]
    found = comparing.compared(*sides)
    return Comparison(
        current=current,
        proposed=judged,
        shares=found.shares,
        teams=found.teams,
        queue=found.queue,
        jobs=found.jobs,
        team_effects=found.team_effects,
        changes=_changed(current.variant.topology, proposed.variant.topology),
        compared=found,
    )


def _changed(before: Topology, after: Topology) -> tuple[QueueChange, ...]:
    old, new = (setup_of_topology(topology, SourceMap()) for topology in (before, after))
    return compare_setups([old], [new])
