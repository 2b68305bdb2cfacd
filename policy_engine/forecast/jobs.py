"""What a change does to single jobs, and to teams: who starts and ends sooner, and who later."""

import numpy as np
import polars as pl

from policy_engine.amounts import HOUR
from policy_engine.scheduler import NEVER, JobStatus, Outcome

SECOND = 1000


def job_effects(current: Outcome, proposed: Outcome) -> pl.DataFrame:
    """One row a job that was submitted in both replays, in order of submission.

    Columns, each once with `current_` and once with `proposed_`: `share`, `team`, `status` (as in the outcome), `wait`
    (s until the first dispatch; null if it never ran), `turnaround` (s from submission to its end; null if it did not
    end), `preemptions`, `lost` (instance-hours). And `difference`: s by which its end comes later (positive) or sooner,
    null unless it SUCCEEDED in both; `effect`: `gains` if it ends sooner or SUCCEEDED only now, `loses` if it ends
    later or SUCCEEDED only before, else `same`.
    """
    columns = ["job", "order"]
    before, after = _columns(current), _columns(proposed)
    joined = before.rename({name: f"current_{name}" for name in before.columns if name not in columns}).join(
        after.drop("order").rename({name: f"proposed_{name}" for name in after.columns if name not in columns}),
        on="job",
        how="inner",
    )
    succeeded = [pl.col(f"{side}_status") == JobStatus.SUCCEEDED.name for side in ("current", "proposed")]
    difference = pl.col("proposed_turnaround") - pl.col("current_turnaround")
    return (
        joined.sort("order")
        .drop("order")
        .with_columns(difference=pl.when(succeeded[0] & succeeded[1]).then(difference))
        .with_columns(
            effect=pl.when((succeeded[0] & ~succeeded[1]) | (pl.col("difference") > 0))
            .then(pl.lit("loses"))
            .when((~succeeded[0] & succeeded[1]) | (pl.col("difference") < 0))
            .then(pl.lit("gains"))
            .otherwise(pl.lit("same"))
        )
    )


def team_effects(jobs: pl.DataFrame) -> pl.DataFrame:
    """One row a team of the current topology, those that lose most first.

    Columns: `team`; `jobs`; `gain`, `lose`: how many of them; `newly_succeed`, `no_longer_succeed`: of these, those
    that SUCCEEDED in one replay only; `mean_difference`: mean s by which the others end later, null if there are none;
    `lost_difference`: instance-hours of work lost more.
    """
    only = pl.col("difference").is_null()
    return (
        jobs.group_by(pl.col("current_team").alias("team"), maintain_order=True)
        .agg(
            pl.len().cast(pl.Int64).alias("jobs"),
            gain=(pl.col("effect") == "gains").sum().cast(pl.Int64),
            lose=(pl.col("effect") == "loses").sum().cast(pl.Int64),
            newly_succeed=(only & (pl.col("effect") == "gains")).sum().cast(pl.Int64),
            no_longer_succeed=(only & (pl.col("effect") == "loses")).sum().cast(pl.Int64),
            mean_difference=pl.col("difference").mean(),
            lost_difference=(pl.col("proposed_lost") - pl.col("current_lost")).sum().round(6),
        )
        .sort(
            pl.col("no_longer_succeed") - pl.col("newly_succeed"),
            pl.col("mean_difference").fill_null(0),
            descending=True,
            maintain_order=True,
        )
    )


def most(jobs: pl.DataFrame, effect: str, count: int) -> pl.DataFrame:
    """The jobs that gain or lose most: first those that SUCCEEDED in one replay only, then by the difference."""
    return (
        jobs.filter(pl.col("effect") == effect)
        .sort(pl.col("difference").abs().fill_null(float("inf")), descending=True, maintain_order=True)
        .head(count)
    )


def _columns(outcome: Outcome) -> pl.DataFrame:
    jobs, trace = outcome.jobs, outcome.trace
    owned = tuple(outcome.topology.quota_shares())
    ran, ended = jobs.first_scheduled_at != NEVER, jobs.finished_at != NEVER
    names = pl.Series([share.name for share in owned], dtype=pl.String)
    teams = pl.Series([share.team for share in owned], dtype=pl.String)
    statuses = pl.Series([status.name for status in JobStatus], dtype=pl.String)
    frame = pl.DataFrame(
        {
            "job": trace.job_id,
            "order": np.arange(len(trace)),
            "share": names.gather(outcome.share_of_job),
            "team": teams.gather(outcome.share_of_job),
            "status": statuses.gather(jobs.status.astype(np.int64)),
            "wait": (jobs.first_scheduled_at - trace.submitted_at) / SECOND,
            "turnaround": (jobs.finished_at - trace.submitted_at) / SECOND,
            "preemptions": jobs.preemptions.astype(np.int64),
            "lost": jobs.lost * outcome.instances_of_job / HOUR,
        }
    ).with_columns(
        wait=pl.when(pl.Series(ran)).then(pl.col("wait")),
        turnaround=pl.when(pl.Series(ended)).then(pl.col("turnaround")),
    )
    return frame.filter(pl.col("status") != JobStatus.SUBMITTED.name)
