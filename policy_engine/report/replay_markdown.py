"""A replay as Markdown, for the summary of a job or a pull request."""

from collections.abc import Iterator, Mapping

from policy_engine.amounts import brief_duration, counted, decimal, in_hours, percent
from policy_engine.assessment import Assessment
from policy_engine.assessment.costs import Costs
from policy_engine.report.assumptions_text import departures
from policy_engine.report.livelock_text import cycle
from policy_engine.report.markdown import as_text, table
from policy_engine.report.verdict_markdown import verdicts_markdown

_SHARES = ("share", "jobs", "not run", "p50", "p95", "max", "suffered", "caused", "lost h", "in use", "goodput")
_COSTS = ("own", "borrowed", "lent", "idle", "lost", "wasted")
_LIVELOCKS_SHOWN = 3
_Row = Mapping[str, int]


def replay_markdown(assessment: Assessment) -> str:
    """GitHub-flavoured Markdown: expectations first, then the figures. Names cannot be anything but text in it."""
    return "\n".join(_lines(assessment)) + "\n"


def _lines(assessment: Assessment) -> Iterator[str]:
    outcome, summary = assessment.outcome, assessment.summary
    queue = summary.queue.row(0, named=True)
    span = brief_duration(outcome.ended_at - outcome.first_submitted_at)
    yield f"## {as_text(outcome.topology.name)}: {counted(queue['jobs'], 'job')}, {span} replayed"
    yield ""
    yield "By Batch Quota. A prediction under assumptions, which AWS does not publish."
    changed = departures(outcome.assumptions)
    if changed:
        said = ", ".join(f"{name} {value}" for name, value in changed.items())
        yield from ("", f"Assumptions that depart from the defaults: {as_text(said)}")
    yield from verdicts_markdown(assessment.verdicts)
    yield from _titled("Waits, preemptions suffered and caused, lost instance-hours, use")
    rows = [_cells(row["share"], row) for row in summary.shares.iter_rows(named=True)]
    yield from table(_SHARES, [*rows, _cells("queue", queue)])
    yield from _costs(assessment.costs)
    yield from _livelocks(assessment)


def _cells(name: str, row: _Row) -> tuple[str, ...]:
    waits = (row[wait] for wait in ("wait_p50", "wait_p95", "wait_max"))
    return (
        name,
        f"{row['jobs']:,}",
        f"{row['never_ran']:,}",
        *("-" if wait is None else brief_duration(wait) for wait in waits),
        f"{row['preemptions_suffered']:,}",
        f"{row['preemptions_caused']:,}",
        in_hours(row["lost"]),
        percent(row["utilization"]),
        percent(row["goodput"]),
    )


def _costs(costs: Costs) -> Iterator[str]:
    prices = costs.prices
    if prices is None:
        return
    yield from _titled(f"Cost, in {prices.currency}, at prices of {prices.date.isoformat()} in {prices.region}")
    teams = [(row["team"], row) for row in costs.teams.iter_rows(named=True)]
    rows = (
        (name, *("-" if row[f"{kind}_cost"] is None else decimal(row[f"{kind}_cost"]) for kind in _COSTS))
        for name, row in (*teams, ("queue", costs.queue.row(0, named=True)))
    )
    yield from table(("team", *_COSTS), rows)


def _livelocks(assessment: Assessment) -> Iterator[str]:
    found = assessment.livelocks
    if not len(found):
        return
    lost = in_hours(int(found.lost.sum()))
    jobs = counted(len(found), "job")
    yield from _titled(f"Livelock: {jobs} got nowhere again and again, and lost {lost} instance-hours")
    for livelock in found.worst(_LIVELOCKS_SHOWN):
        yield f"- {as_text(cycle(livelock, assessment.outcome), longest=1000)}"


def _titled(title: str) -> Iterator[str]:
    yield from ("", f"**{as_text(title)}**", "")
