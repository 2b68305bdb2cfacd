"""An outcome as JSON: stable, versioned, described by `outcome.schema.json`. The same outcome gives the same bytes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

import numpy as np
import polars as pl

from policy_engine.amounts import HOUR, iso_date
from policy_engine.assessment.assessing import Assessment, assess
from policy_engine.assessment.costs import KINDS, Costs
from policy_engine.assessment.verdicts import Verdict
from policy_engine.pricing import Prices
from policy_engine.report.json_text import choice, obj, seconds, texts, whole
from policy_engine.scheduler import AttemptOutcome, JobStatus, Outcome, PreemptionKind, Reason
from policy_engine.scheduler.livelock import Livelock
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.scheduler.usage import Usage
from policy_engine.topology import Unit
from policy_engine.trace.jobs import Int64

VERSION = 1
LIVELOCKS_DESCRIBED = 100
_ROWS_AT_ONCE = 200_000
_AMOUNTS = ("limit", "used", "own", "borrowed", "lent", "idle", "pending")
_COUNTS = (
    "jobs",
    "succeeded",
    "failed",
    "runnable",
    "running",
    "never_ran",
    "not_submitted",
    "preemptions_suffered",
    "preemptions_caused",
)
_Figures = Mapping[str, Any]


def outcome_document(
    outcome: Outcome, *, usage: bool = False, prices: Prices | None = None, baseline: Outcome | None = None
) -> dict[str, Any]:
    """What `batch-quota replay --format json` prints, as Python data."""
    assessment = assess(outcome, prices=prices, baseline=baseline)
    document: dict[str, Any] = json.loads("".join(outcome_json(assessment, usage=usage)))
    return document


def outcome_json(assessment: Assessment, *, usage: bool = False) -> Iterator[str]:
    """The document in pieces: one line a job and a preemption. `usage` adds the step series of the picture of time."""
    outcome, summary, costs = assessment.outcome, assessment.summary, assessment.costs
    epoch = outcome.trace.epoch
    members: dict[str, object] = {
        "version": VERSION,
        "topology": outcome.topology.name,
        "started_at": None if epoch is None else iso_date(0, epoch),
        "first_submitted_at": _seconds(outcome.first_submitted_at),
        "ended_at": _seconds(outcome.ended_at),
        "assumptions": outcome.assumptions.model_dump(mode="json"),
        "prices": prices_data(costs),
        "queue": {
            **_figures(summary.queue.row(0, named=True), limit_name="capacity"),
            **_costs(costs.queue.row(0, named=True)),
        },
    }
    lists: dict[str, Iterable[object]] = {
        "shares": (
            {
                **_figures(row),
                **_costs(money),
                "units": _units(summary.share_units.filter(summary.share_units["share"] == row["share"])),
            }
            for row, money in _side_by_side(summary.shares, costs.shares)
        ),
        "teams": ({**_figures(row), **_costs(money)} for row, money in _side_by_side(summary.teams, costs.teams)),
        "units": _units(summary.units, limit_name="capacity"),
        "expectations": (verdict_data(verdict) for verdict in assessment.verdicts),
        "livelocks": (_livelock(one, outcome) for one in assessment.livelocks.worst(LIVELOCKS_DESCRIBED)),
    }
    if usage:
        lists["usage"] = _series(outcome.usage)
    yield "{\n"
    for name, value in members.items():
        yield f"{_member(name, value)},\n"
    yield f"{_member('livelocked_jobs', len(assessment.livelocks))},\n"
    for name, items in lists.items():
        yield from _list(name, (json.dumps(item, ensure_ascii=False) for item in items))
        yield ",\n"
    yield from _list("jobs", _jobs(outcome))
    yield ",\n"
    yield from _list("preemptions", _preemptions(outcome))
    yield "\n}\n"


def _member(name: str, value: object) -> str:
    return f'"{name}": {json.dumps(value, ensure_ascii=False)}'


def _list(name: str, items: Iterable[str]) -> Iterator[str]:
    """A list with one item a line. An item may be several, joined already."""
    yield f'"{name}": ['
    separator = "\n"
    for item in items:
        yield separator + item
        separator = ",\n"
    yield "\n]" if separator == ",\n" else "]"


def _seconds(milliseconds: int) -> int | float:
    return milliseconds / 1000 if milliseconds % 1000 else milliseconds // 1000


def _hours(instance_milliseconds: float) -> float:
    return round(instance_milliseconds / HOUR, 6)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _amounts(row: _Figures, limit_name: str) -> dict[str, object]:
    names = {"limit": limit_name}
    hours = {f"{names.get(name, name)}_instance_hours": _hours(row[name]) for name in _AMOUNTS}
    return {**hours, "utilization": _rounded(row["utilization"])}


def _figures(row: _Figures, limit_name: str = "limit") -> dict[str, object]:
    """A row of the summary of shares, teams or the queue."""
    return {
        **{name: row[name] for name in ("share", "team") if name in row},
        **{name: row[name] for name in _COUNTS},
        "preempted_jobs": row["preempted"],
        "preemption_rate": _rounded(row["preemption_rate"]),
        "preemptions_per_day": _rounded(row["preemptions_per_day"]),
        "wait_seconds": {
            name: None if row[f"wait_{name}"] is None else _seconds(row[f"wait_{name}"])
            for name in ("p50", "p95", "p99", "max")
        },
        "lost_instance_hours": _hours(row["lost"]),
        "lost_instance_hours_per_day": None if row["lost_per_day"] is None else _hours(row["lost_per_day"]),
        "productive_instance_hours": _hours(row["productive"]),
        **_amounts(row, limit_name),
        "goodput": _rounded(row["goodput"]),
    }


def _side_by_side(figures: pl.DataFrame, costs: pl.DataFrame) -> Iterator[tuple[_Figures, _Figures]]:
    return zip(figures.iter_rows(named=True), costs.iter_rows(named=True), strict=True)


def _costs(row: _Figures) -> dict[str, object]:
    """A row of the costs of shares, teams or the queue. Its other instance-hours are among the figures."""
    return {
        "wasted_instance_hours": row["wasted_instance_hours"],
        **{measure: {kind: row[f"{kind}_{measure}"] for kind in KINDS} for measure in ("gpu_hours", "cost")},
    }


def prices_data(costs: Costs) -> dict[str, object] | None:
    """The prices that costs are at."""
    prices = costs.prices
    if prices is None:
        return None
    return {
        "currency": prices.currency,
        "region": prices.region,
        "date": prices.date.isoformat(),
        "source": prices.source or None,
        "without": list(costs.unpriced),
    }


def _units(rows: pl.DataFrame, limit_name: str = "limit") -> list[dict[str, object]]:
    return [{"unit": row["unit"], **_amounts(row, limit_name)} for row in rows.iter_rows(named=True)]


def verdict_data(verdict: Verdict) -> dict[str, object]:
    """An expectation and what was measured."""
    unit = verdict.expectation.unit
    return {
        "target": verdict.target,
        "metric": verdict.expectation.metric.value,
        "expected": verdict.expectation.bound,
        "measured": _measured(verdict.measured, unit),
        "baseline": _measured(verdict.baseline, unit),
        "held": verdict.held if verdict.judged else None,
        "because": verdict.because or None,
        "job": verdict.job,
        "at": None if verdict.at is None else _seconds(verdict.at),
    }


def _measured(amount: float, unit: Unit) -> float | None:
    if not isfinite(amount):
        return None
    return amount / 1000 if unit is Unit.MILLISECONDS else round(amount, 6)


def _livelock(livelock: Livelock, outcome: Outcome) -> dict[str, object]:
    return {
        "job": str(outcome.trace.job_id[livelock.job]),
        "share": outcome.share_names[livelock.share],
        "stops": livelock.stops,
        "first_at": _seconds(livelock.first_at),
        "last_at": _seconds(livelock.last_at),
        "period_seconds": _seconds(livelock.period),
        "lost_instance_hours": _hours(livelock.lost),
        "claimants": dict(livelock.claimants),
        "above_limit": {unit: {"need": need, "limit": limit} for unit, need, limit in livelock.above_limit},
        "causes": [cause.value for cause in livelock.causes],
        "status": livelock.status.name,
    }


def _series(usage: Usage) -> Iterator[dict[str, object]]:
    """The step series of each share and unit in which anything ever happens, as columns."""
    for (share, unit), steps in usage.steps.group_by("share", "unit", maintain_order=True):
        if steps.select(pl.max_horizontal(pl.col("limit", "used", "pending").max())).item():
            at = [_seconds(time) for time in steps["at"].to_list()]
            yield {"share": share, "unit": unit, "at": at, **{name: steps[name].to_list() for name in _AMOUNTS}}


def _shares(outcome: Outcome) -> pl.Series:
    """Each job's share as a JSON text."""
    return texts(pl.Series(outcome.share_names, dtype=pl.String)).gather(outcome.share_of_job)


def _jobs(outcome: Outcome) -> Iterator[str]:
    submitted = np.flatnonzero(outcome.jobs.status != JobStatus.SUBMITTED)
    order = np.argsort(outcome.attempts.job, kind="stable")
    attempted = outcome.attempts.job[order]
    shares = _shares(outcome)
    for first in range(0, len(submitted), _ROWS_AT_ONCE):
        rows = submitted[first : first + _ROWS_AT_ONCE]
        attempts = order[slice(*np.searchsorted(attempted, (rows[0], rows[-1] + 1)))]
        jobs = _job_columns(outcome, rows, shares).join(_attempt_texts(outcome, attempts), on="job", how="left")
        yield from jobs.select(_JOB).to_series().to_list()


_JOB = obj(
    id=pl.col("id"),
    share=pl.col("share"),
    status=choice(pl.col("status"), {status: status.name for status in JobStatus}),
    submitted_at=seconds(pl.col("submitted_at")),
    first_scheduled_at=seconds(pl.col("first_scheduled_at")),
    finished_at=seconds(pl.col("finished_at")),
    wait_seconds=seconds(
        pl.when(pl.col("first_scheduled_at") >= 0).then(pl.col("first_scheduled_at") - pl.col("submitted_at"))
    ),
    preemptions=whole(pl.col("preemptions")),
    lost_seconds=seconds(pl.col("lost")),
    reason=choice(pl.col("reason"), {reason: STATUS_REASON.get(reason) for reason in Reason}),
    reason_code=choice(pl.col("reason"), {reason: None if reason is Reason.NONE else reason.name for reason in Reason}),
    attempts=pl.concat_str(pl.lit("["), pl.col("attempts").fill_null(""), pl.lit("]")),
)
_ATTEMPT = obj(
    scheduled_at=seconds(pl.col("scheduled_at")),
    running_at=seconds(pl.col("running_at")),
    stopped_at=seconds(pl.col("stopped_at")),
    outcome=choice(pl.col("outcome"), {outcome: outcome.name for outcome in AttemptOutcome}),
)
_PREEMPTION = obj(
    at=seconds(pl.col("at")),
    victim=pl.col("victim"),
    victim_share=pl.col("victim_share"),
    claimant=pl.col("claimant"),
    claimant_share=pl.col("claimant_share"),
    kind=choice(pl.col("kind"), {kind: kind.name for kind in PreemptionKind}),
    capacity=pl.col("capacity"),
    lost_seconds=seconds(pl.col("lost")),
)


def _job_columns(outcome: Outcome, rows: Int64, shares: pl.Series) -> pl.DataFrame:
    jobs = outcome.jobs
    return pl.DataFrame(
        {
            "job": rows.astype(np.int32),
            "id": texts(outcome.trace.job_id.gather(rows)),
            "share": shares.gather(rows),
            "status": jobs.status[rows],
            "submitted_at": outcome.trace.submitted_at[rows],
            "first_scheduled_at": jobs.first_scheduled_at[rows],
            "finished_at": jobs.finished_at[rows],
            "preemptions": jobs.preemptions[rows],
            "lost": jobs.lost[rows],
            "reason": jobs.reason[rows],
        }
    )


def _attempt_texts(outcome: Outcome, rows: Int64) -> pl.DataFrame:
    """The attempts of each job as one text. The rows stand by job, then in order."""
    attempts = outcome.attempts
    frame = pl.DataFrame(
        {
            "job": attempts.job[rows],
            "scheduled_at": attempts.scheduled_at[rows],
            "running_at": attempts.running_at[rows],
            "stopped_at": attempts.stopped_at[rows],
            "outcome": attempts.outcome[rows],
        }
    )
    return frame.select("job", _ATTEMPT.alias("attempts")).group_by("job").agg(pl.col("attempts").str.join(", "))


def _preemptions(outcome: Outcome) -> Iterator[str]:
    made, ids, shares = outcome.preemptions, texts(outcome.trace.job_id), _shares(outcome)
    capacity = pl.Series(
        [
            json.dumps(dict(sorted((unit, n) for unit, n in zip(outcome.trace.units, need, strict=True) if n)))
            for need in outcome.trace.needs.tolist()
        ],
        dtype=pl.String,
    )
    for first in range(0, len(made.at), _ROWS_AT_ONCE):
        part = slice(first, first + _ROWS_AT_ONCE)
        victim, claimant = made.victim[part], made.claimant[part]
        frame = pl.DataFrame(
            {
                "at": made.at[part],
                "victim": ids.gather(victim),
                "victim_share": shares.gather(victim),
                "claimant": ids.gather(claimant),
                "claimant_share": shares.gather(claimant),
                "kind": made.kind[part],
                "capacity": capacity.gather(outcome.trace.need[victim]),
                "lost": made.lost[part],
            }
        )
        yield from frame.select(_PREEMPTION).to_series().to_list()
