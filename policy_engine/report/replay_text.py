"""A replay's outcome for people, within 80 columns."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import polars as pl
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from policy_engine.amounts import brief_duration, counted, decimal, in_hours, moment, percent, printable
from policy_engine.assessment.assessing import Assessment
from policy_engine.assessment.measuring import still_waiting
from policy_engine.report.assumptions_text import departures
from policy_engine.report.cost_text import costs_section
from policy_engine.report.livelock_text import cycle, remedies, why
from policy_engine.report.loss_text import losses_section
from policy_engine.report.tables import amounts_table, hanging, more, rendered, section
from policy_engine.report.use_text import use_section
from policy_engine.report.verdict_text import expectations_section
from policy_engine.scheduler import NEVER, JobStatus, Outcome, PreemptionKind, Reason
from policy_engine.scheduler.livelock import Cause, Livelocks
from policy_engine.scheduler.reasons import STATUS_REASON

_PAIRS_SHOWN = 10
_LIVELOCKS_SHOWN = 3
_TROUBLES_SHOWN = 12
_KINDS = {PreemptionKind.CROSS_SHARE: "cross-share", PreemptionKind.IN_SHARE: "in-share"}
_ENDINGS = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.RUNNABLE, JobStatus.RUNNING)
_Row = Mapping[str, int]


def replay_text(assessment: Assessment, *, preemptions: int, color: bool) -> str:
    """The whole report: figures by share, team and instance type, then what is worth knowing about single jobs.

    `preemptions` is how many of them are listed, from the first on.
    """
    return rendered(_parts(assessment, preemptions), color=color)


def _parts(assessment: Assessment, preemptions: int) -> Iterator[RenderableType]:
    outcome, summary = assessment.outcome, assessment.summary
    yield _heading(outcome, summary.queue.row(0, named=True))
    title = "Waits, preemptions suffered and caused, lost instance-hours"
    yield from section(title, _waits(summary.shares, summary.queue))
    not_run = int(summary.queue["never_ran"][0])
    if not_run:
        yield Text(f"Waits are of the jobs that were dispatched; {counted(not_run, 'job')} had not run by the end.")
    yield from section("Capacity, in instance-hours", _capacity(summary.shares, summary.queue))
    if 1 < len(summary.teams) < len(summary.shares):
        yield from section("Teams: waits, preemptions, lost instance-hours", _waits(summary.teams))
        yield from section("Teams: capacity, in instance-hours", _capacity(summary.teams))
    yield from section("Instance types, in instances on average", _units(summary.units, summary.end - summary.start))
    yield from use_section(outcome.usage)
    yield from costs_section(assessment.costs)
    yield from _troubles(outcome)
    yield from _preemptions(outcome, preemptions)
    yield from losses_section(outcome)
    yield from _livelocks(assessment.livelocks)
    yield from expectations_section(assessment.verdicts)


def _heading(outcome: Outcome, queue: _Row) -> Text:
    span = brief_duration(outcome.ended_at - outcome.first_submitted_at)
    jobs, not_submitted = queue["jobs"], queue["not_submitted"]
    text = Text()
    text.append(printable(outcome.topology.name), style="bold")
    text.append(f": {counted(jobs, 'job')} of {counted(len(outcome.trace.share_names), 'share')}, {span} replayed\n")
    if outcome.trace.epoch is not None:
        first, last = (moment(at, outcome.trace.epoch) for at in (outcome.first_submitted_at, outcome.ended_at))
        text.append(f"From {first} to {last} UTC\n")
    ends = (f"{queue[status.name.lower()]:,} {status.name}" for status in _ENDINGS if queue[status.name.lower()])
    text.append(f"At the end {', '.join(ends) or 'nothing was submitted'}")
    text.append(f"; {counted(not_submitted, 'job')} would come later.\n" if not_submitted else ".\n")
    text.append(
        "\nA prediction: AWS publishes neither how it chooses victims nor the order of\n"
        "shares. `batch-quota assumptions` tells what is assumed, and why.\n"
    )
    changed = departures(outcome.assumptions)
    if changed:
        width = max(len(name) for name in changed)
        text.append("Assumptions that depart from the defaults:\n")
        text.append("\n".join(f"  {name:<{width}}  {value}" for name, value in changed.items()))
    else:
        text.append("All assumptions are the defaults.")
    return text


def _fill(
    table: Table, rows: pl.DataFrame, queue: pl.DataFrame | None, cells: Callable[[_Row], Iterator[str]]
) -> Table:
    """Add a row for each share or team, named in the frame's first column, and one for the whole queue."""
    for row in rows.iter_rows(named=True):
        table.add_row(Text(printable(row[rows.columns[0]])), *cells(row))
    if queue is not None:
        table.add_section()
        table.add_row(Text("queue"), *cells(queue.row(0, named=True)))
    return table


def _waits(rows: pl.DataFrame, queue: pl.DataFrame | None = None) -> Table:
    never = ("not run",) if int(rows["never_ran"].sum()) else ()
    headings = ("jobs", *never, "p50", "p95", "max", "suffered", "caused", "lost h")
    table = amounts_table(rows.columns[0], *headings)

    def cells(row: _Row) -> Iterator[str]:
        yield f"{row['jobs']:,}"
        if never:
            yield f"{row['never_ran']:,}"
        for wait in ("wait_p50", "wait_p95", "wait_max"):
            yield "-" if row[wait] is None else brief_duration(row[wait])
        yield f"{row['preemptions_suffered']:,}"
        yield f"{row['preemptions_caused']:,}"
        yield in_hours(row["lost"])

    return _fill(table, rows, queue, cells)


def _capacity(rows: pl.DataFrame, queue: pl.DataFrame | None = None) -> Table:
    headings = ("limit", "own", "borrowed", "lent", "idle", "in use", "goodput")
    table = amounts_table(rows.columns[0], *headings)

    def cells(row: _Row) -> Iterator[str]:
        for amount in ("limit", "own", "borrowed", "lent", "idle"):
            yield in_hours(row[amount])
        yield percent(row["utilization"])
        yield percent(row["goodput"])

    return _fill(table, rows, queue, cells)


def _units(units: pl.DataFrame, span: int) -> Table:
    headings = ("capacity", "in use", "borrowed", "idle", "pending", "utilization")
    table = amounts_table("instance type", *headings)
    for row in units.iter_rows(named=True):
        means = (decimal(row[name] / max(span, 1)) for name in ("limit", "used", "borrowed", "idle", "pending"))
        table.add_row(Text(printable(row["unit"])), *means, percent(row["utilization"]))
    return table


def _troubles(outcome: Outcome) -> Iterator[RenderableType]:
    """Jobs that FAILED and jobs that can never run or never ran, by share and reason."""
    jobs = outcome.jobs
    never_ran = jobs.first_scheduled_at == NEVER
    stuck = (jobs.status == JobStatus.RUNNABLE) & (never_ran | (jobs.reason != Reason.NONE))
    rows = np.flatnonzero((jobs.status == JobStatus.FAILED) | (stuck & ~still_waiting(outcome)))
    if not len(rows):
        return
    groups = (
        pl.DataFrame(
            {
                "job": rows,
                "share": outcome.share_of_job[rows],
                "status": jobs.status[rows],
                "reason": jobs.reason[rows],
                "never": never_ran[rows],
            }
        )
        .group_by("share", "status", "reason", "never", maintain_order=True)
        .agg(pl.len(), pl.col("job").first())
        .sort("len", descending=True, maintain_order=True)
    )
    yield from section("Jobs that FAILED, or never ran")
    for row in groups.head(_TROUBLES_SHOWN).iter_rows(named=True):
        example = printable(str(outcome.trace.job_id[row["job"]]))
        which = f"{counted(row['len'], 'job')} of {printable(outcome.share_names[row['share']])}"
        ran = " without having run" if row["never"] else ""
        status = JobStatus(row["status"])
        reason = STATUS_REASON.get(Reason(row["reason"]), "Simulated: waits behind other jobs of its share.")
        first = f"{example}" if row["len"] == 1 else f"such as {example}"
        yield hanging(f"{which}, {first}: {status.name}{ran}")
        yield hanging(reason, indent=4)
    yield from more(len(groups) - _TROUBLES_SHOWN, "group")


def _preemptions(outcome: Outcome, shown: int) -> Iterator[RenderableType]:
    made = outcome.preemptions
    count = len(made.at)
    if not count:
        yield from section("Preemptions", Text("none"))
        return
    lost = made.lost * outcome.instances_of_job[made.victim]
    title = f"Preemptions: {count:,}, which lost {in_hours(int(lost.sum()))} instance-hours of work"
    yield from section(title, _pairs(outcome))
    if not shown:
        return
    yield Text()
    yield _first_preemptions(outcome, min(shown, count))
    yield from more(count - shown, "preemption")


def _pairs(outcome: Outcome) -> Table:
    """Who preempts whom."""
    made = outcome.preemptions
    pairs = (
        pl.DataFrame(
            {
                "claimant": outcome.share_of_job[made.claimant],
                "victim": outcome.share_of_job[made.victim],
                "kind": made.kind,
                "lost": made.lost * outcome.instances_of_job[made.victim],
            }
        )
        .group_by("claimant", "victim", "kind")
        .agg(pl.len(), pl.col("lost").sum())
        .sort("len", "lost", "claimant", "victim", "kind", descending=[True, True, False, False, False])
    )
    table = amounts_table("for jobs of", "stopped jobs of", "kind", "times", "lost h", named=2)
    for row in pairs.head(_PAIRS_SHOWN).iter_rows(named=True):
        table.add_row(
            Text(printable(outcome.share_names[row["claimant"]])),
            Text(printable(outcome.share_names[row["victim"]])),
            _KINDS[PreemptionKind(row["kind"])],
            f"{row['len']:,}",
            in_hours(row["lost"]),
        )
    rest = pairs.slice(_PAIRS_SHOWN)
    if len(rest):
        times, lost = int(rest["len"].sum()), int(rest["lost"].sum())
        table.add_row(counted(len(rest), "more pair"), "", "", f"{times:,}", in_hours(lost))
    return table


def _first_preemptions(outcome: Outcome, shown: int) -> Table:
    made, ids = outcome.preemptions, outcome.trace.job_id
    table = amounts_table("stopped job", "for job", "at", "kind", "lost h", named=2)
    for row in range(shown):
        victim, claimant = int(made.victim[row]), int(made.claimant[row])
        table.add_row(
            Text(printable(str(ids[victim]))),
            Text(printable(str(ids[claimant]))),
            moment(int(made.at[row]), outcome.trace.epoch),
            _KINDS[PreemptionKind(made.kind[row])],
            in_hours(int(made.lost[row] * outcome.instances_of_job[victim])),
        )
    return table


def _livelocks(livelocks: Livelocks) -> Iterator[RenderableType]:
    if not len(livelocks):
        return
    lost = in_hours(int(livelocks.lost.sum()))
    jobs = counted(len(livelocks), "job")
    yield from section(f"Livelock: {jobs} got nowhere again and again, and lost {lost} instance-hours")
    explained: set[tuple[Cause, ...]] = set()
    for livelock in livelocks.worst(_LIVELOCKS_SHOWN):
        yield hanging(cycle(livelock, livelocks.outcome))
        if livelock.causes not in explained:
            explained.add(livelock.causes)
            yield hanging(f"why: {why(livelock, livelocks.outcome)}", indent=4)
            yield hanging(f"would end it: {remedies(livelock, livelocks.outcome)}", indent=4)
    yield from more(len(livelocks) - _LIVELOCKS_SHOWN, "job")
