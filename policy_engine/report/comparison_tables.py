"""What a comparison says, as tables of texts: the terminal and Markdown show the same ones."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isinf

import polars as pl

from policy_engine.amounts import brief_duration, counted, decimal
from policy_engine.change import Action, QueueChange, ResourceChange
from policy_engine.forecast import Comparison
from policy_engine.forecast.comparing import Replay
from policy_engine.forecast.figures import FIGURES
from policy_engine.forecast.jobs import most
from policy_engine.report.assumptions_text import assumption_value

_NOTHING = "-"
_LABELS = {
    "wait_p50": "wait p50",
    "wait_p95": "wait p95",
    "wait_p99": "wait p99",
    "wait_max": "longest wait",
    "never_ran": "never ran",
    "preemptions": "preemptions",
    "preemption_rate": "jobs preempted",
    "preemptions_per_day": "preemptions a day",
    "lost_instance_hours": "lost h",
    "own_instance_hours": "own h",
    "borrowed_instance_hours": "borrowed h",
    "lent_instance_hours": "lent h",
    "idle_instance_hours": "idle h",
    "wasted_instance_hours": "wasted h",
    "used_gpu_hours": "GPU-hours used",
    "wasted_gpu_hours": "GPU-hours wasted",
    "utilization": "utilization",
    "goodput": "goodput",
    "cost": "cost",
    "wasted_cost": "wasted cost",
}
_OVERVIEW = {
    "wait_p50": "p50",
    "wait_p95": "p95",
    "never_ran": "never ran",
    "preemptions": "stops",
    "lost_instance_hours": "lost h",
    "utilization": "in use",
    "goodput": "goodput",
    "cost": "cost",
}
_OF_SHARES = (
    "wait_p50",
    "wait_p95",
    "wait_max",
    "never_ran",
    "preemptions",
    "lost_instance_hours",
    "own_instance_hours",
    "borrowed_instance_hours",
    "lent_instance_hours",
    "utilization",
    "goodput",
    "cost",
    "wasted_cost",
)
"""What is told of each share. The queue has all figures, and JSON has all of everything."""
_SAME, _ALMOST_SAME = "Nothing differs for", "Less than the digits shown here differs for"
_WIDEST_LABEL = 18
_BETTER = {figure.name: figure.lower_is_better for figure in FIGURES}
_VERBS = {Action.ADD: "added", Action.UPDATE: "changed", Action.REPLACE: "replaced", Action.REMOVE: "removed"}


@dataclass(frozen=True, slots=True)
class Cells:
    """One row of a table."""

    texts: tuple[str, ...]
    better: bool | None = None
    """Whether it is good news. None: neither, or it is not known."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A table with a title. The first `named` columns hold names, the others amounts."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[Cells, ...]
    named: int = 1
    note: str = ""
    """What stands below it, or instead of it if it has no rows."""


def overview(comparisons: Sequence[Comparison]) -> Listing:
    """The whole queue in each variant: worth having with several proposals."""
    first = comparisons[0]
    sides = [(first.current, "current"), *((each.proposed, "proposed") for each in comparisons)]
    frames = [first.queue, *(each.queue for each in comparisons)]
    shown = [metric for metric in _OVERVIEW if any(_figure(frame, metric, "current") for frame in frames)]
    rows = tuple(
        Cells((replay.variant.label, *(_figure(frame, metric, side) or _NOTHING for metric in shown)))
        for (replay, side), frame in zip(sides, frames, strict=True)
    )
    return Listing("The queue in each: waits, preemptions, use", ("", *(_OVERVIEW[metric] for metric in shown)), rows)


def what_differs(comparison: Comparison, changes: Sequence[QueueChange]) -> Iterator[str]:
    """What differs in the resources that the topologies make, and in the assumptions, one line each."""
    for change in changes:
        yield from (line for each in change.resources for line in _resource(each))
    before, after = (side.assessment.outcome.assumptions for side in (comparison.current, comparison.proposed))
    for name in type(before).model_fields:
        old, new = getattr(before, name), getattr(after, name)
        if old != new:
            yield f"assumption {name}: {assumption_value(old)} -> {assumption_value(new)}"


def queue_listing(comparison: Comparison) -> Listing:
    """All figures of the queue."""
    rows = tuple(
        Cells((_LABELS[row["metric"]], *_figures(row)), _better(row))
        for row in comparison.queue.iter_rows(named=True)
        if row["current"] is not None or row["proposed"] is not None
    )
    return Listing("The queue", ("", *_sides(comparison), "difference"), rows)


def shares_listing(comparison: Comparison) -> Listing:
    """The figures of shares that differ as they are written here."""
    rows: list[Cells] = []
    apart: dict[str, list[str]] = {_SAME: [], _ALMOST_SAME: []}
    current, proposed = (each.variant.label for each in (comparison.current, comparison.proposed))
    for (name,), part in comparison.shares.group_by("name", maintain_order=True):
        figures = part.filter(pl.col("metric").is_in(_OF_SHARES)).rows(named=True)
        there = [any(row[side] is not None for row in figures) for side in ("current", "proposed")]
        differing = [row for row in figures if _differ(row)]
        if not all(there):
            apart.setdefault(f"Only {current if there[0] else proposed} has", []).append(str(name))
        elif not differing:
            same = all(row["current"] == row["proposed"] for row in figures)
            apart[_SAME if same else _ALMOST_SAME].append(str(name))
        else:
            names = [str(name), *[""] * (len(differing) - 1)]
            rows += [
                Cells((shown, _LABELS[row["metric"]], *_figures(row)), _better(row))
                for shown, row in zip(names, differing, strict=True)
            ]
    note = " ".join(f"{what} {', '.join(names)}." for what, names in apart.items() if names)
    return Listing("Shares: what differs", ("share", "", *_sides(comparison), "difference"), tuple(rows), 2, note)


def teams_listing(comparison: Comparison) -> Listing:
    """Which teams gain and lose, by when their jobs end."""
    rows = []
    for row in comparison.team_effects.iter_rows(named=True):
        newly, no_longer = row["newly_succeed"], row["no_longer_succeed"]
        texts = (
            row["team"],
            f"{row['jobs']:,}",
            f"{row['gain']:,}",
            f"{row['lose']:,}",
            difference_text(row["mean_difference"], "seconds") if row["mean_difference"] is not None else _NOTHING,
            f"{newly - no_longer:+,}" if newly or no_longer else "0",
            difference_text(row["lost_difference"], "instance-hours"),
        )
        worse = (no_longer - newly) or (row["mean_difference"] or 0)
        rows.append(Cells(texts, None if not worse else worse < 0))
    headings = ("team", "jobs", "sooner", "later", "on average", "SUCCEEDED", "lost h")
    return Listing("Who gains and loses: when jobs end", headings, tuple(rows))


def jobs_listing(comparison: Comparison, effect: str, count: int) -> Listing:
    """The jobs that gain or lose most."""
    found = most(comparison.jobs, effect, count)
    rows = tuple(
        Cells(
            (
                row["job"],
                row["proposed_share"],
                _ends(row),
                f"{_wait(row['current_wait'])} -> {_wait(row['proposed_wait'])}",
                f"{row['current_preemptions']} -> {row['proposed_preemptions']}",
            ),
            effect == "gains",
        )
        for row in found.iter_rows(named=True)
    )
    total = comparison.jobs.filter(pl.col("effect") == effect).height
    if not total:
        return Listing("", (), (), note=f"No job {'ends sooner' if effect == 'gains' else 'ends later'}.")
    word = "gain" if effect == "gains" else "lose"
    title = f"Jobs that {word} most, of {total:,} that do"
    return Listing(title, ("job", "share", "ends", "wait", "stops"), rows, 2)


def prices_text(comparison: Comparison) -> str | None:
    """In what costs are given. None without prices."""
    prices = comparison.current.assessment.costs.prices
    if prices is None:
        return None
    return f"Costs are in {prices.currency}, at prices of {prices.date.isoformat()} in {prices.region}."


def left_out_texts(replay: Replay) -> Iterator[str]:
    """Which jobs could not be submitted to a variant."""
    for share, count in replay.left_out.items():
        are = "is" if count == 1 else "are"
        yield f"{counted(count, 'job')} of {share} {are} left out on {replay.variant.label}, which has no such share"


def figure_text(amount: float | None, unit: str) -> str:
    """A figure as people read it."""
    if amount is None:
        return _NOTHING
    if isinf(amount):
        return "without end"
    match unit:
        case "seconds":
            return brief_duration(round(amount * 1000))
        case "percent":
            return f"{amount:.1f}%"
        case "count":
            return f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.1f}"
        case _:
            return decimal(amount)


def difference_text(amount: float | None, unit: str) -> str:
    """A difference with its sign: `+1h02m`, `-3.5 points`, `0`."""
    if amount is None:
        return _NOTHING
    if not amount:
        return "0"
    sign = "+" if amount > 0 else "-"
    if isinf(amount):
        return f"{sign}without end"
    if unit == "percent":
        return f"{sign}{decimal(abs(amount))} points"
    return f"{sign}{figure_text(abs(amount), unit)}"


def _sides(comparison: Comparison) -> tuple[str, str]:
    """The headings of both sides: their labels, where these leave room for the figures."""
    labels = comparison.current.variant.label, comparison.proposed.variant.label
    return labels if max(map(len, labels)) <= _WIDEST_LABEL else ("current", "proposed")


def _figures(row: dict[str, float | None]) -> tuple[str, str, str]:
    unit = str(row["unit"])
    return (
        figure_text(row["current"], unit),
        figure_text(row["proposed"], unit),
        difference_text(row["difference"], unit),
    )


def _differ(row: dict[str, float | None]) -> bool:
    current, proposed, _ = _figures(row)
    return current != proposed


def _better(row: dict[str, float | None]) -> bool | None:
    lower, difference = _BETTER[str(row["metric"])], row["difference"]
    return None if lower is None or not difference else (difference < 0) is lower


def _figure(frame: pl.DataFrame, metric: str, side: str) -> str | None:
    row = frame.filter(pl.col("metric") == metric).row(0, named=True)
    return None if row[side] is None else figure_text(row[side], row["unit"])


def _ends(row: dict[str, object]) -> str:
    difference = row["difference"]
    if isinstance(difference, int | float):
        later = "later" if difference > 0 else "sooner"
        return f"{brief_duration(round(abs(difference) * 1000))} {later}"
    return f"{row['current_status']} -> {row['proposed_status']}"


def _wait(seconds: float | None) -> str:
    return "never ran" if seconds is None else figure_text(seconds, "seconds")


def _resource(change: ResourceChange) -> Iterator[str]:
    what = f"{change.kind.noun} {change.name}"
    if change.action is not Action.UPDATE:
        yield f"{what}: {_VERBS[change.action]}"
    for setting in change.settings:
        old, new = ("none" if value is None else str(value) for value in (setting.old, setting.new))
        yield f"{what}: {setting.setting} {old} -> {new}"
