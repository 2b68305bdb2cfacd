"""A replay's results as data frames with the columns that `columns` defines: times in seconds, amounts in hours."""

from collections.abc import Mapping, Sequence
from enum import IntEnum

import numpy as np
import numpy.typing as npt
import polars as pl

from policy_engine.amounts import HOUR, SECOND
from policy_engine.assessment import Assessment
from policy_engine.assessment.costs import KINDS, MEASURES, Costs
from policy_engine.library import columns as c
from policy_engine.report.outcome_json import verdict_data
from policy_engine.report.peaks import peaks
from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome, PreemptionKind, Reason
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.trace.jobs import Int64

_AMOUNTS = ("limit", "used", "own", "borrowed", "lent", "idle", "pending")
_WAITS = ("wait_p50", "wait_p95", "wait_p99", "wait_max")
_Values = pl.Series | npt.NDArray[np.generic] | Sequence[str]
_Codes = npt.NDArray[np.signedinteger]


def jobs_frame(outcome: Outcome) -> pl.DataFrame:
    """One row a job of the trace."""
    jobs, trace = outcome.jobs, outcome.trace
    ran = jobs.first_scheduled_at != NEVER
    wait = np.where(ran, jobs.first_scheduled_at - trace.submitted_at, NEVER)
    shares = _share_names(outcome)
    return _frame(
        c.JOBS,
        id=trace.job_id,
        share=shares,
        team=_teams(outcome).gather(outcome.share_of_job),
        status=_named(jobs.status, JobStatus),
        submitted_at=_seconds(trace.submitted_at),
        first_scheduled_at=_seconds(jobs.first_scheduled_at),
        finished_at=_seconds(jobs.finished_at),
        wait_seconds=_seconds(wait),
        runtime_seconds=_seconds(trace.runtime),
        instances=outcome.instances_of_job,
        priority=trace.priority,
        preemptions=jobs.preemptions,
        lost_seconds=_seconds(jobs.lost),
        reason=_texts(jobs.reason, {reason: STATUS_REASON.get(reason) for reason in Reason}),
    )


def attempts_frame(outcome: Outcome) -> pl.DataFrame:
    """One row an attempt."""
    attempts = outcome.attempts
    return _frame(
        c.ATTEMPTS,
        job=outcome.trace.job_id.gather(attempts.job),
        share=_share_names(outcome).gather(attempts.job),
        scheduled_at=_seconds(attempts.scheduled_at),
        running_at=_seconds(attempts.running_at),
        stopped_at=_seconds(attempts.stopped_at),
        outcome=_named(attempts.outcome, AttemptOutcome),
        instances=outcome.instances_of_job[attempts.job],
        lost_seconds=_seconds(outcome.work.lost),
    )


def preemptions_frame(outcome: Outcome) -> pl.DataFrame:
    """One row a preemption."""
    made, trace = outcome.preemptions, outcome.trace
    ids, shares = trace.job_id, _share_names(outcome)
    capacity = pl.Series(
        [
            [{"unit": unit, "instances": n} for unit, n in zip(trace.units, need, strict=True) if n]
            for need in trace.needs.tolist()
        ],
        dtype=pl.List(pl.Struct({"unit": pl.String, "instances": pl.Int64})),
    )
    return _frame(
        c.PREEMPTIONS,
        at=_seconds(made.at),
        victim=ids.gather(made.victim),
        victim_share=shares.gather(made.victim),
        claimant=ids.gather(made.claimant),
        claimant_share=shares.gather(made.claimant),
        kind=_named(made.kind, PreemptionKind),
        capacity=capacity.gather(trace.need[made.victim]),
        lost_seconds=_seconds(made.lost),
        lost_instance_hours=made.lost * outcome.instances_of_job[made.victim] / HOUR,
    )


def usage_frame(outcome: Outcome) -> pl.DataFrame:
    """The picture of time, exact: a row for each step."""
    steps = outcome.usage.steps
    return _frame(c.USAGE, **{name: steps[name] for name in steps.columns if name != "at"}, at=steps["at"] / SECOND)


def usage_every_frame(outcome: Outcome, interval: int) -> pl.DataFrame:
    """The picture of time in intervals (ms) from the first submission on; the last one may be shorter."""
    usage = outcome.usage
    edges = np.append(np.arange(usage.start, usage.end, interval, dtype=np.int64), usage.end)
    count = len(edges) - 1
    if count < 1:
        return _empty(c.USAGE_EVERY)
    parts = []
    for (share, unit), steps in usage.steps.group_by("share", "unit", maintain_order=True):
        at = steps["at"].to_numpy()
        levels = {name: steps[name].to_numpy() for name in _AMOUNTS}
        whole = usage.start + count * interval  # The last interval as long as the others: its peak is the same.
        parts.append(
            _frame(
                c.USAGE_EVERY,
                share=[str(share)] * count,
                unit=[str(unit)] * count,
                at=edges[:-1] / SECOND,
                **{name: _means(at, level, edges) for name, level in levels.items()},
                most_used=peaks(*_until(at, levels["used"], usage.end), usage.start, whole, count),
                most_pending=peaks(*_until(at, levels["pending"], usage.end), usage.start, whole, count),
            )
        )
    return pl.concat(parts) if parts else _empty(c.USAGE_EVERY)


def _until(at: Int64, level: Int64, end: int) -> tuple[Int64, Int64]:
    """The steps before the end."""
    return at[at < end], level[at < end]


def _means(at: Int64, level: Int64, edges: Int64) -> npt.NDArray[np.float64]:
    """The mean level between each two edges. `at` begins at 0."""
    sums = np.append(0, np.cumsum(level[:-1] * np.diff(at)))
    row = np.searchsorted(at, edges, side="right") - 1
    means: npt.NDArray[np.float64] = np.diff(sums[row] + level[row] * (edges - at[row])) / np.diff(edges)
    return means


def figures_frame(rows: pl.DataFrame, columns: tuple[c.Column, ...]) -> pl.DataFrame:
    """Rows of a summary, with seconds and hours for its milliseconds."""
    hours = {f"{name}_instance_hours": rows[name] / HOUR for name in (*_AMOUNTS, "lost", "productive")}
    return _frame(
        columns,
        **{column.name: rows[column.name] for column in columns if column.name in rows.columns},
        **hours,
        **{f"{name}_seconds": rows[name] / SECOND for name in _WAITS},
        preempted_jobs=rows["preempted"],
        lost_instance_hours_per_day=rows["lost_per_day"] / HOUR,
    )


def costs_frame(costs: Costs) -> pl.DataFrame:
    """One row a share and kind of hours."""
    parts = [
        costs.shares.select(
            "share",
            "team",
            pl.lit(kind).alias("kind"),
            *(pl.col(f"{kind}_{measure}").cast(pl.Float64).alias(measure) for measure in MEASURES),
        ).with_row_index("order")
        for kind in KINDS
    ]
    return pl.concat(parts).sort("order", maintain_order=True).drop("order")


def expectations_frame(assessment: Assessment) -> pl.DataFrame:
    """One row a bound."""
    rows = [verdict_data(verdict) for verdict in assessment.verdicts]
    return pl.DataFrame(rows, schema=_schema(c.EXPECTATIONS), orient="row")


def _frame(
    columns: tuple[c.Column, ...], **values: pl.Series | npt.NDArray[np.generic] | Sequence[str]
) -> pl.DataFrame:
    """The columns in their order and types."""
    return pl.DataFrame({column.name: pl.Series(values[column.name]).cast(column.dtype) for column in columns})


def _schema(columns: tuple[c.Column, ...]) -> dict[str, pl.DataType]:
    return {column.name: column.dtype for column in columns}


def _empty(columns: tuple[c.Column, ...]) -> pl.DataFrame:
    return pl.DataFrame(schema=_schema(columns))


def _seconds(milliseconds: Int64) -> pl.Series:
    """Null for what never came."""
    series = pl.Series(milliseconds)
    return (series / SECOND).set(series == NEVER, None)


def _named(codes: _Codes, names: type[IntEnum]) -> pl.Series:
    return _texts(codes, {code: code.name for code in names})


def _texts(codes: _Codes, texts: Mapping[IntEnum, str | None]) -> pl.Series:
    """The text of each code. Codes count from 0 on."""
    return pl.Series([texts[code] for code in sorted(texts)], dtype=pl.String).gather(codes.astype(np.int64))


def _share_names(outcome: Outcome) -> pl.Series:
    """Each job's share."""
    return pl.Series(outcome.share_names, dtype=pl.String).gather(outcome.share_of_job)


def _teams(outcome: Outcome) -> pl.Series:
    """The team of each share."""
    return pl.Series([owned.team for owned in outcome.topology.quota_shares()], dtype=pl.String)
