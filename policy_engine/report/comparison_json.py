"""A comparison for programs: stable, versioned, described by `comparison.schema.json`."""

import json
from collections.abc import Sequence
from math import isfinite

import polars as pl

from policy_engine.assessment import Assessment
from policy_engine.forecast import Comparison
from policy_engine.forecast.comparing import Replay
from policy_engine.forecast.jobs import most
from policy_engine.report.change_json import changes_data
from policy_engine.report.comparison_text import Changes
from policy_engine.report.outcome_json import prices_data, verdict_data

VERSION = 1


def comparison_json(comparisons: Sequence[Comparison], changes: Changes, *, jobs: int) -> str:
    """The document. Of the jobs that gain and lose most, each list has `jobs`."""
    current = comparisons[0].current
    document = {
        "version": VERSION,
        "prices": prices_data(current.assessment.costs),
        "current": _variant(current),
        "comparisons": [_comparison(each, changes, jobs) for each in comparisons],
        "broken": any(each.broken for each in comparisons),
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)


def _variant(replay: Replay) -> dict[str, object]:
    assessment: Assessment = replay.assessment
    outcome = assessment.outcome
    return {
        "label": replay.variant.label,
        "topology": outcome.topology.name,
        "assumptions": outcome.assumptions.model_dump(mode="json"),
        "jobs": len(outcome.trace),
        "left_out": replay.left_out,
        "first_submitted_at": outcome.first_submitted_at / 1000,
        "ended_at": outcome.ended_at / 1000,
    }


def _comparison(comparison: Comparison, changes: Changes, jobs: int) -> dict[str, object]:
    return {
        "proposed": _variant(comparison.proposed),
        "changes": changes_data(changes.get(comparison.proposed.variant.label, ())),
        "queue": _figures(comparison.queue),
        "shares": _by_name(comparison.shares, "share"),
        "teams": _by_name(comparison.teams, "team"),
        "team_effects": comparison.team_effects.to_dicts(),
        "jobs": {effect: comparison.jobs.filter(pl.col("effect") == effect).height for effect in _EFFECTS},
        "gain_most": _jobs(comparison, "gains", jobs),
        "lose_most": _jobs(comparison, "loses", jobs),
        "expectations": [verdict_data(verdict) for verdict in comparison.proposed.assessment.verdicts],
        "broken": comparison.broken,
    }


_EFFECTS = ("gains", "loses", "same")


def _by_name(frame: pl.DataFrame, kind: str) -> list[dict[str, object]]:
    return [{kind: name, "figures": _figures(part)} for (name,), part in frame.group_by("name", maintain_order=True)]


def _figures(frame: pl.DataFrame) -> list[dict[str, object]]:
    return [
        {
            "metric": row["metric"],
            "unit": row["unit"],
            **{side: _number(row[side]) for side in ("current", "proposed", "difference")},
        }
        for row in frame.iter_rows(named=True)
    ]


def _number(amount: float | None) -> float | None:
    return None if amount is None or not isfinite(amount) else round(amount, 6)


def _jobs(comparison: Comparison, effect: str, count: int) -> list[dict[str, object]]:
    return most(comparison.jobs, effect, count).drop("effect").to_dicts()
