"""A comparison as Markdown, to paste into a pull request."""

import re
from collections.abc import Iterator, Sequence

from policy_engine.amounts import counted, printable
from policy_engine.assessment import Verdict
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
from policy_engine.report.verdict_text import measured_text, tally, word

_MARKUP = re.compile(r"([\\`*_\[\]|~])")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "#": "&#35;"}
_LINK = re.compile(r"://|(?<=www)\.", re.IGNORECASE)
_LONGEST = 200


def comparison_markdown(comparisons: Sequence[Comparison], changes: Changes, *, jobs: int) -> str:
    """GitHub-flavoured Markdown, with the details folded. Names cannot be anything but text in it."""
    return "\n".join(_lines(comparisons, changes, jobs)) + "\n"


def _lines(comparisons: Sequence[Comparison], changes: Changes, jobs: int) -> Iterator[str]:
    current = comparisons[0].current
    names = " and ".join(_text(each.proposed.variant.label) for each in comparisons)
    yield f"## {_text(current.variant.label)} → {names}"
    yield ""
    count = counted(len(current.assessment.outcome.trace), "job")
    said = f"{count} replayed on each by Batch Quota. Predictions under assumptions, which AWS does not publish."
    prices = prices_text(comparisons[0])
    yield said if prices is None else f"{said} {_text(prices)}"
    yield from _paragraphs(left_out_texts(current))
    if len(comparisons) > 1:
        yield from _table(overview(comparisons))
    for each in comparisons:
        yield from _comparison(each, changes, jobs, titled=len(comparisons) > 1)


def _comparison(comparison: Comparison, changes: Changes, jobs: int, *, titled: bool) -> Iterator[str]:
    label = comparison.proposed.variant.label
    if titled:
        yield from ("", f"### {_text(comparison.current.variant.label)} → {_text(label)}")
    yield from _paragraphs(left_out_texts(comparison.proposed))
    yield from _verdicts(comparison.proposed.assessment.verdicts)
    yield from ("", "**What differs**", "")
    differing = list(what_differs(comparison, changes.get(label, ())))
    yield from (f"- {_text(line)}" for line in differing or ["nothing that a replay depends on"])
    yield from _table(queue_listing(comparison))
    yield from _table(teams_listing(comparison))
    yield from _folded(shares_listing(comparison))
    if jobs:
        for effect in ("loses", "gains"):
            yield from _folded(jobs_listing(comparison, effect, jobs))


def _verdicts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    if not verdicts:
        return
    mark = "❌" if any(verdict.broken for verdict in verdicts) else "✅"
    yield from ("", f"{mark} **{tally(verdicts)}**", "")
    yield "| | | expected | measured | |"
    yield "| --- | --- | --- | --- | --- |"
    for verdict in verdicts:
        expected = f"{verdict.expectation.metric} {verdict.expectation.bound}"
        cells = (word(verdict), verdict.target, expected, measured_text(verdict), verdict.because)
        yield _row(cells)


def _table(listing: Listing) -> Iterator[str]:
    if listing.rows:
        yield from ("", f"**{_text(listing.title)}**", "")
        yield from _body(listing)
    if listing.note:
        yield from ("", _text(listing.note))


def _folded(listing: Listing) -> Iterator[str]:
    if not listing.rows:
        yield from _table(listing)
        return
    yield from ("", f"<details><summary>{_text(listing.title)}</summary>", "")
    yield from _body(listing)
    if listing.note:
        yield from ("", _text(listing.note))
    yield from ("", "</details>")


def _body(listing: Listing) -> Iterator[str]:
    yield _row(listing.headings)
    amounts = len(listing.headings) - listing.named
    yield "| " + " | ".join(["---"] * listing.named + ["---:"] * amounts) + " |"
    yield from (_row(row.texts) for row in listing.rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_text(cell) for cell in cells) + " |"


def _paragraphs(texts: Iterator[str]) -> Iterator[str]:
    for text in texts:
        yield from ("", _text(text))


def _text(text: str) -> str:
    """Text that Markdown and HTML show as it is: no mark-up, no links, no mentions, one line, not too long."""
    shown = printable(text)
    if len(shown) > _LONGEST:
        shown = shown[:_LONGEST] + "…"
    escaped = "".join(_ENTITIES.get(character, character) for character in shown)
    unlinked = _LINK.sub(lambda match: "&#58;//" if match[0] == "://" else "&#46;", escaped)
    return _MARKUP.sub(r"\\\1", unlinked)
