"""A comparison for people, within 80 columns."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from policy_engine.amounts import counted, printable
from policy_engine.change import QueueChange
from policy_engine.forecast import Comparison
from policy_engine.report.comparison_tables import (
    Listing,
    jobs_listing,
    left_out_texts,
    overview,
    prices_text,
    queue_listing,
    shares_listing,
    teams_listing,
    what_differs,
)
from policy_engine.report.tables import amounts_table, hanging, rendered, section
from policy_engine.report.verdict_text import expectations_section

Changes = Mapping[str, Sequence[QueueChange]]
"""What differs in the resources, by the label of a proposal."""


def comparison_text(comparisons: Sequence[Comparison], changes: Changes, *, jobs: int, color: bool) -> str:
    """Each proposal beside what is there now. Of the jobs that gain and lose most, `jobs` are listed."""
    return rendered(_parts(comparisons, changes, jobs), color=color)


def _parts(comparisons: Sequence[Comparison], changes: Changes, jobs: int) -> Iterator[RenderableType]:
    current = comparisons[0].current
    count = counted(len(current.assessment.outcome.trace), "job")
    names = " and ".join(each.proposed.variant.label for each in comparisons)
    heading = Text(printable(f"{current.variant.label} -> {names}"), style="bold")
    yield heading.append(f": {count} replayed on each", style="not bold")
    yield Text(
        "Predictions under assumptions, which AWS does not publish; `batch-quota\nassumptions` tells them. "
        "Differences are of what is proposed to what is there."
    )
    prices = prices_text(comparisons[0])
    if prices is not None:
        yield hanging(prices, indent=0)
    for text in left_out_texts(current):
        yield hanging(text, indent=0)
    if len(comparisons) > 1:
        yield from _listing(overview(comparisons))
    for each in comparisons:
        yield from _comparison(each, changes, jobs, titled=len(comparisons) > 1)


def _comparison(comparison: Comparison, changes: Changes, jobs: int, *, titled: bool) -> Iterator[RenderableType]:
    label = comparison.proposed.variant.label
    if titled:
        yield from section(f"== {comparison.current.variant.label} -> {label} ==")
    for text in left_out_texts(comparison.proposed):
        yield hanging(text, indent=0)
    differing = list(what_differs(comparison, changes.get(label, ())))
    yield from section("What differs", *(hanging(line) for line in differing or ["nothing that a replay depends on"]))
    yield from _listing(queue_listing(comparison))
    yield from _listing(shares_listing(comparison))
    yield from _listing(teams_listing(comparison))
    if jobs:
        for effect in ("loses", "gains"):
            yield from _listing(jobs_listing(comparison, effect, jobs))
    yield from expectations_section(comparison.proposed.assessment.verdicts, of=label)


def _listing(listing: Listing) -> Iterator[RenderableType]:
    if not listing.rows:
        if listing.note:
            yield Text()
            yield hanging(listing.note, indent=0)
        return
    table = amounts_table(*listing.headings, named=listing.named)
    for row in listing.rows:
        style = None if row.better is None else "green" if row.better else "red"
        names, amounts = row.texts[: listing.named], row.texts[listing.named :]
        table.add_row(*(Text(printable(name)) for name in names), *amounts[:-1], Text(amounts[-1], style=style or ""))
    yield from section(listing.title, table)
    if listing.note:
        yield hanging(listing.note, indent=0)
