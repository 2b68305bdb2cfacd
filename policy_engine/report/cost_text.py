"""What a replay costs, for people: own, borrowed, lent and wasted, by team."""

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.text import Text

from policy_engine.amounts import decimal, printable
from policy_engine.assessment.costs import Costs
from policy_engine.report.tables import amounts_table, hanging, section

_COLUMNS = ("own", "borrowed", "lent", "idle", "lost", "wasted")


def costs_section(costs: Costs) -> Iterator[RenderableType]:
    """The teams' hours as money, or as GPU-hours without prices, with what part of them was wasted."""
    measure, title = _measure(costs)
    table = amounts_table("team", *_COLUMNS, "used a day")
    for row in costs.teams.iter_rows(named=True):
        table.add_row(Text(printable(row["team"])), *_cells(row, measure, costs.days))
    table.add_section()
    table.add_row(Text("queue"), *_cells(costs.queue.row(0, named=True), measure, costs.days))
    yield from section(title, table)
    missing = costs.unpriced if measure == "cost" else costs.uncounted if measure == "gpu_hours" else ()
    if missing:
        what = "price" if measure == "cost" else "number of GPUs"
        yield hanging(f"- is not known: there is no {what} of {', '.join(missing)}", indent=0)


def _measure(costs: Costs) -> tuple[str, str]:
    if costs.prices is not None:
        prices = costs.prices
        return "cost", f"Cost, in {prices.currency}, at prices of {prices.date.isoformat()} in {prices.region}"
    if costs.queue["used_gpu_hours"].item() == 0:
        return "instance_hours", "Usage by team, in instance-hours"
    return "gpu_hours", "Usage by team, in GPU-hours"


def _cells(row: Mapping[str, float | None], measure: str, days: float) -> Iterator[str]:
    yield from (_amount(row[f"{kind}_{measure}"]) for kind in _COLUMNS)
    used = row[f"used_{measure}"]
    yield _amount(used / days if used is not None and days else None)


def _amount(amount: float | None) -> str:
    return "-" if amount is None else decimal(amount)
