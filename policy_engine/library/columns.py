"""What the columns of the data frames are: names, types, units and meanings. Here, and nowhere else, they are defined.

The frames select these columns, and docs/library.md shows them. Programs rely on their names: they stay.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from policy_engine.assessment.costs import KINDS

_S, _INSTANCE_H, _INSTANCES = "s", "instance-hours", "instances"
_SINCE_START = "s since the trace's start"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a data frame."""

    name: str
    dtype: pl.DataType
    unit: str
    """Empty for texts, counts and flags."""
    meaning: str


def _text(name: str, meaning: str) -> Column:
    return Column(name, pl.String(), "", meaning)


def _count(name: str, meaning: str, unit: str = "") -> Column:
    return Column(name, pl.Int64(), unit, meaning)


def _number(name: str, unit: str, meaning: str) -> Column:
    return Column(name, pl.Float64(), unit, meaning)


_CAPACITY = Column(
    "capacity",
    pl.List(pl.Struct({"unit": pl.String(), "instances": pl.Int64()})),
    _INSTANCES,
    "what the stopped job held, by instance type",
)

JOBS = (
    _text("id", "the trace's `job_id`"),
    _text("share", "quota share"),
    _text("team", "team of the share"),
    _text("status", "SUCCEEDED, FAILED, RUNNABLE or RUNNING at the end; SUBMITTED if the replay was stopped before"),
    _number("submitted_at", _SINCE_START, ""),
    _number("first_scheduled_at", _SINCE_START, "first dispatch; null if it never ran"),
    _number("finished_at", _SINCE_START, "null if it did not end"),
    _number("wait_seconds", _S, "from submission to the first dispatch; null if it never ran"),
    _number("runtime_seconds", _S, "productive time that it needs"),
    _count("instances", "of all types together", _INSTANCES),
    _count("priority", "scheduling priority at submission"),
    _count("preemptions", "times that it was preempted"),
    _number("lost_seconds", _S, "productive time that preemptions destroyed, not multiplied by its instances"),
    _text("reason", "why it FAILED, or why it can never run, in AWS's words where AWS has some; else null"),
)
ATTEMPTS = (
    _text("job", "`id` of its job"),
    _text("share", "quota share of its job"),
    _number("scheduled_at", _SINCE_START, "dispatch: from then on it holds its instances"),
    _number("running_at", _SINCE_START, "null if it never was RUNNING"),
    _number("stopped_at", _SINCE_START, "release of its instances; null if it still held them at the end"),
    _text("outcome", "SUCCEEDED, FAILED, PREEMPTED, TERMINATED, TIMED_OUT, NO_CAPACITY, or RUNNING at the end"),
    _count("instances", "of all types together", _INSTANCES),
    _number("lost_seconds", _S, "productive time that its preemption destroyed, that of earlier attempts included"),
)
PREEMPTIONS = (
    _number("at", _SINCE_START, "the decision"),
    _text("victim", "`id` of the job that was stopped"),
    _text("victim_share", "its quota share"),
    _text("claimant", "`id` of the job that it was stopped for"),
    _text("claimant_share", "that job's quota share"),
    _text("kind", "CROSS_SHARE or IN_SHARE"),
    _CAPACITY,
    _number("lost_seconds", _S, "productive time of the victim that was destroyed"),
    _number("lost_instance_hours", _INSTANCE_H, "the same, times its instances"),
)
_AMOUNTS = {
    "limit": "capacity limit of the share",
    "used": "held by its jobs: own + borrowed",
    "own": "held within its limit",
    "borrowed": "held above its limit",
    "lent": "of its limit, borrowed by others",
    "idle": "of its limit, neither used nor lent",
    "pending": "needed by its RUNNABLE jobs",
}
USAGE = (
    _text("share", "quota share"),
    _text("unit", "instance type"),
    _number("at", _SINCE_START, "since when the row holds, until the next one of its share and unit"),
    *(_count(name, meaning, _INSTANCES) for name, meaning in _AMOUNTS.items()),
)
USAGE_EVERY = (
    _text("share", "quota share"),
    _text("unit", "instance type"),
    _number("at", _SINCE_START, "start of the interval"),
    *(_number(name, _INSTANCES, f"{meaning}; mean over the interval") for name, meaning in _AMOUNTS.items()),
    _count("most_used", "the most that its jobs held at any moment of the interval", _INSTANCES),
    _count("most_pending", "the most that its RUNNABLE jobs needed", _INSTANCES),
)
_FIGURES = (
    _count("jobs", "submitted"),
    _count("succeeded", "of them, by the end of the replay"),
    _count("failed", "the same"),
    _count("runnable", "the same"),
    _count("running", "the same"),
    _count("never_ran", "of them, not once dispatched"),
    _count("not_submitted", "jobs that the replay was stopped before"),
    _count("preempted_jobs", "jobs that were preempted at least once"),
    _count("preemptions_suffered", "preemptions of its own jobs"),
    _count("preemptions_caused", "preemptions in favour of its jobs"),
    _number("wait_p50_seconds", _S, "wait that half of the dispatched jobs do not exceed; null if none was dispatched"),
    _number("wait_p95_seconds", _S, "that 95 % do not exceed"),
    _number("wait_p99_seconds", _S, "that 99 % do not exceed"),
    _number("wait_max_seconds", _S, "the longest"),
    *(_number(f"{name}_instance_hours", _INSTANCE_H, meaning) for name, meaning in _AMOUNTS.items()),
    _number("lost_instance_hours", _INSTANCE_H, "work that preemptions destroyed"),
    _number("productive_instance_hours", _INSTANCE_H, "work that they did not destroy"),
    _number("utilization", "fraction", "used / limit; null without a limit"),
    _number("goodput", "fraction", "productive / used; null if nothing was used"),
    _number("preemption_rate", "fraction", "preempted jobs / jobs that ran; null if none ran"),
    _number("preemptions_per_day", "per 24 h", "preemptions suffered; null if no time passed"),
    _number("lost_instance_hours_per_day", "instance-hours per 24 h", "null if no time passed"),
)
SHARES = (_text("share", "quota share"), _text("team", "its team"), *_FIGURES)
TEAMS = (_text("team", ""), *_FIGURES)
QUEUE = _FIGURES
COSTS = (
    _text("share", "quota share"),
    _text("team", "its team"),
    _text("kind", f"of the hours: {', '.join(KINDS)}"),
    _number("instance_hours", _INSTANCE_H, ""),
    _number("gpu_hours", "GPU-hours", "null if the GPUs of a type that was used so are not known"),
    _number("cost", "the prices' currency", "null without prices, or without that of a type that was used so"),
)
EXPECTATIONS = (
    _text("target", "share, team, or `queue`"),
    _text("metric", "as in the topology"),
    _text("expected", "the bound, as in the topology"),
    _number("measured", "the metric's; s for waits", "null if a job waits without end, or there is nothing to measure"),
    _number("baseline", "the same", "the figure of the baseline; null without one"),
    Column("held", pl.Boolean(), "", "whether it is met; null if it is relative and there is no baseline"),
    _text("because", "what broke it; null if it holds"),
    _text("job", "`id` of the job that this is about, if it is about one"),
    _number("at", _SINCE_START, "when, if that is known"),
)
COMPARED = (
    _text("name", "share, team, or `queue`"),
    _text("metric", "as in expectations, or hours of costs"),
    _text("unit", "seconds, percent, count, instance-hours, GPU-hours or money"),
    _number("current", "`unit`", "null if there is nothing to measure; infinite if a job waits without end"),
    _number("proposed", "`unit`", "the same"),
    _number("difference", "`unit`", "proposed - current"),
)
_EFFECTS = (
    ("share", pl.String(), "", "quota share"),
    ("team", pl.String(), "", "team of the share"),
    ("status", pl.String(), "", "as in `jobs`"),
    ("wait", pl.Float64(), _S, "until the first dispatch; null if it never ran"),
    ("turnaround", pl.Float64(), _S, "from submission to its end; null if it did not end"),
    ("preemptions", pl.Int64(), "", "times that it was preempted"),
    ("lost", pl.Float64(), _INSTANCE_H, "work that preemptions destroyed"),
)
COMPARED_JOBS = (
    _text("job", "`id` of a job that was submitted in both replays"),
    *(
        Column(f"{side}_{name}", dtype, unit, meaning)
        for side in ("current", "proposed")
        for name, dtype, unit, meaning in _EFFECTS
    ),
    _number("difference", _S, "by which its end comes later, or sooner; null unless it SUCCEEDED in both"),
    _text("effect", "`gains`, `loses` or `same`: by its end, or by whether it SUCCEEDED at all"),
)
TEAM_EFFECTS = (
    _text("team", "a team of the current topology"),
    _count("jobs", "that were submitted in both replays"),
    _count("gain", "of them"),
    _count("lose", "of them"),
    _count("newly_succeed", "jobs that SUCCEEDED only in the proposal"),
    _count("no_longer_succeed", "jobs that SUCCEEDED only before"),
    _number("mean_difference", _S, "by which the others end later; null if there are none"),
    _number("lost_difference", _INSTANCE_H, "of work, lost more"),
)

FRAMES: Mapping[str, tuple[str, tuple[Column, ...]]] = {
    "Replay.jobs": ("One row a job, in order of submission.", JOBS),
    "Replay.attempts": ("One row an attempt, in order of dispatch.", ATTEMPTS),
    "Replay.preemptions": ("One row a preemption, in order of decision.", PREEMPTIONS),
    "Replay.usage": ("One row for each moment at which anything changes for a share and unit.", USAGE),
    "Replay.usage_every(seconds)": ("One row a share, unit and interval: few enough rows to plot.", USAGE_EVERY),
    "Replay.shares": ("One row a share, in declaration order.", SHARES),
    "Replay.teams": ("One row a team: the columns of `Replay.shares` without `share`.", TEAMS),
    "Replay.queue": (
        "One row: the same columns without `share` and `team`. `limit` is the service environment's capacity, `idle` "
        "what no job held of it.",
        QUEUE,
    ),
    "Replay.costs": ("One row a share and kind of hours.", COSTS),
    "Replay.expectations": ("One row a bound of the topology's expectations.", EXPECTATIONS),
    "Comparison.shares": (
        "One row a share and metric. `Comparison.teams` and `.queue` have the same columns.",
        COMPARED,
    ),
    "Comparison.jobs": ("One row a job that was submitted in both replays.", COMPARED_JOBS),
    "Comparison.team_effects": ("One row a team, those that lose most first.", TEAM_EFFECTS),
}
"""What each frame has, by where it is."""


def column_tables() -> Iterator[str]:
    """Lines of Markdown: a table for each frame. Frames whose columns are another's have a sentence alone."""
    shown: list[tuple[Column, ...]] = []
    for frame, (rows, columns) in FRAMES.items():
        yield f"### `{frame}`"
        yield ""
        yield rows
        yield ""
        if any(set(columns) < set(others) for others in shown):
            continue
        shown.append(columns)
        yield "| column | type | unit | meaning |"
        yield "| --- | --- | --- | --- |"
        for column in columns:
            yield f"| `{column.name}` | {_type(column.dtype)} | {column.unit} | {column.meaning} |"
        yield ""


def _type(dtype: pl.DataType) -> str:
    return {"List": "list of structs"}.get(dtype.base_type().__name__, dtype.base_type().__name__)
