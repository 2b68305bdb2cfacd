"""Whether expectations hold, for people."""

from collections.abc import Iterator, Sequence
from math import isinf, isnan

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from policy_engine.amounts import brief_duration, counted, printable
from policy_engine.assessment.verdicts import Verdict
from policy_engine.report.tables import hanging, section
from policy_engine.topology import Unit


def expectations_section(verdicts: Sequence[Verdict], *, of: str = "") -> Iterator[RenderableType]:
    """Each expectation with what was measured, and below that what broke it or why it is not judged."""
    if not verdicts:
        return
    yield from section(tally(verdicts, of=of))
    table = Table(box=None, pad_edge=False, show_edge=False, show_header=False, padding=(0, 2, 0, 0))
    for _ in range(4):
        table.add_column(overflow="fold")
    for verdict in verdicts:
        table.add_row(
            Text(f"  {word(verdict)}", style="red" if verdict.broken else "" if verdict.judged else "yellow"),
            Text(printable(verdict.target)),
            Text(f"{verdict.expectation.metric} {verdict.expectation.bound}"),
            Text(measured_text(verdict)),
        )
    yield table
    for verdict in verdicts:
        if verdict.because:
            yield hanging(f"{verdict.target} {verdict.expectation.metric}: {verdict.because}")


def tally(verdicts: Sequence[Verdict], *, of: str = "") -> str:
    """`3 expectations: 1 broken, 1 not judged`, or `3 expectations of next.yaml: all hold`."""
    broken = sum(verdict.broken for verdict in verdicts)
    not_judged = sum(not verdict.judged for verdict in verdicts)
    parts = [f"{broken:,} broken"] if broken else []
    parts += [f"{not_judged:,} not judged"] if not_judged else []
    whose = f" of {of}" if of else ""
    return f"{counted(len(verdicts), 'expectation')}{whose}: {', '.join(parts) or 'all hold'}"


def word(verdict: Verdict) -> str:
    """`holds`, `broken` or `open`."""
    return "open" if not verdict.judged else "holds" if verdict.held else "broken"


def expected_text(verdict: Verdict) -> str:
    """`search wait_p95 <= 5m`."""
    return f"{verdict.target} {verdict.expectation.metric} {verdict.expectation.bound}"


def broken_text(verdict: Verdict, trace: str) -> str:
    """What is expected and broken by the replay of a trace, by how much, and by what."""
    return f"{trace} breaks the expectation {expected_text(verdict)}: {measured_text(verdict)}; {verdict.because}"


def measured_text(verdict: Verdict) -> str:
    """What was measured, in the unit of the expectation, and the baseline's figure if it is one of a bound."""
    unit = verdict.expectation.unit
    measured = _figure(verdict.measured, unit)
    if not verdict.expectation.relative or isnan(verdict.baseline):
        return measured
    return f"{measured}, baseline {_figure(verdict.baseline, unit)}"


def _figure(amount: float, unit: Unit) -> str:
    if isnan(amount):
        return "not measured"
    if isinf(amount):
        return "without end"
    match unit:
        case Unit.MILLISECONDS:
            return brief_duration(int(amount))
        case Unit.PERCENT:
            return f"{amount:.1f}%"
        case _:
            return f"{amount:,.0f}" if amount == int(amount) else f"{amount:,.2f}"
