"""Whether expectations hold, as Markdown."""

from collections.abc import Iterator, Sequence

from policy_engine.assessment import Verdict
from policy_engine.report.markdown import table
from policy_engine.report.verdict_text import measured_text, tally, word


def verdicts_markdown(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A line that says whether all hold, and a table of all. Nothing if nothing is expected."""
    if not verdicts:
        return
    mark = "❌" if any(verdict.broken for verdict in verdicts) else "✅"
    yield from ("", f"{mark} **{tally(verdicts)}**", "")
    rows = (
        (
            word(verdict),
            verdict.target,
            f"{verdict.expectation.metric} {verdict.expectation.bound}",
            measured_text(verdict),
            verdict.because,
        )
        for verdict in verdicts
    )
    yield from table(("", "", "expected", "measured", ""), rows, named=5)
