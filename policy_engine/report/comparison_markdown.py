"""A comparison as Markdown, to paste into a pull request."""

from collections.abc import Iterator, Sequence

from policy_engine.amounts import counted
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
from policy_engine.report.comparison_text import Changes
from policy_engine.report.markdown import as_text, table
from policy_engine.report.verdict_markdown import verdicts_markdown


def comparison_markdown(comparisons: Sequence[Comparison], changes: Changes, *, jobs: int) -> str:
    """GitHub-flavoured Markdown, with the details folded. Names cannot be anything but text in it."""
    return "\n".join(_lines(comparisons, changes, jobs)) + "\n"


def _lines(comparisons: Sequence[Comparison], changes: Changes, jobs: int) -> Iterator[str]:
    current = comparisons[0].current
    names = " and ".join(as_text(each.proposed.variant.label) for each in comparisons)
    yield f"## {as_text(current.variant.label)} → {names}"
    yield ""
    count = counted(len(current.assessment.outcome.trace), "job")
    said = f"{count} replayed on each by Batch Quota. Predictions under assumptions, which AWS does not publish."
    prices = prices_text(comparisons[0])
    yield said if prices is None else f"{said} {as_text(prices)}"
    yield from _paragraphs(left_out_texts(current))
    if len(comparisons) > 1:
        yield from _table(overview(comparisons))
    for each in comparisons:
        yield from _comparison(each, changes, jobs, titled=len(comparisons) > 1)


def _comparison(comparison: Comparison, changes: Changes, jobs: int, *, titled: bool) -> Iterator[str]:
    label = comparison.proposed.variant.label
    if titled:
        yield from ("", f"### {as_text(comparison.current.variant.label)} → {as_text(label)}")
    yield from _paragraphs(left_out_texts(comparison.proposed))
    yield from verdicts_markdown(comparison.proposed.assessment.verdicts)
    yield from ("", "**What differs**", "")
    differing = list(what_differs(comparison, changes.get(label, ())))
    yield from (f"- {as_text(line)}" for line in differing or ["nothing that a replay depends on"])
    yield from _table(queue_listing(comparison))
    yield from _table(teams_listing(comparison))
    yield from _folded(shares_listing(comparison))
    if jobs:
        for effect in ("loses", "gains"):
            yield from _folded(jobs_listing(comparison, effect, jobs))


def _table(listing: Listing) -> Iterator[str]:
    if listing.rows:
        yield from ("", f"**{as_text(listing.title)}**", "")
        yield from _body(listing)
    if listing.note:
        yield from ("", as_text(listing.note))


def _folded(listing: Listing) -> Iterator[str]:
    if not listing.rows:
        yield from _table(listing)
        return
    yield from ("", f"<details><summary>{as_text(listing.title)}</summary>", "")
    yield from _body(listing)
    if listing.note:
        yield from ("", as_text(listing.note))
    yield from ("", "</details>")


def _body(listing: Listing) -> Iterator[str]:
    yield from table(listing.headings, (row.texts for row in listing.rows), named=listing.named)


def _paragraphs(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield from ("", as_text(text))
