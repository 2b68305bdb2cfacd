"""The use of shares over time in one line, and texts that are as wide as a terminal shows them."""

import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, make_scenario, share

from policy_engine.cli.output_file import printable_on
from policy_engine.explanation import explain_job
from policy_engine.report import assess
from policy_engine.report.explanation_text import explanation_text
from policy_engine.report.peaks import peaks
from policy_engine.report.replay_text import replay_text
from policy_engine.report.sparklines import BLOCKS, PLAIN, sparkline
from policy_engine.report.tables import rendered
from policy_engine.report.use_text import use_section
from policy_engine.report.wrapping import wrapped
from policy_engine.scheduler import Outcome, replay

G5 = "ml.g5.xlarge"


@pytest.mark.parametrize(
    ("levels", "top", "line"),
    [
        ([], 8, ""),
        ([0, 1, 2, 3, 4, 5, 6, 7, 8], 8, " ▁▂▃▄▅▆▇█"),
        ([0, 1, 999, 1000], 1000, " ▁██"),
        ([1, 2], 2, "▄█"),
        ([9], 8, "█"),
    ],
)
def test_a_block_is_as_high_as_its_level(levels: list[int], top: int, line: str):
    assert sparkline(levels, top) == line


@given(
    st.lists(
        st.tuples(st.integers(0, 100), st.integers(0, 9)), min_size=1, max_size=20, unique_by=lambda step: step[0]
    ),
    st.integers(0, 50),
    st.integers(1, 100),
    st.integers(1, 12),
)
def test_parts_have_the_highest_level_that_is_ever_within_them(
    steps: list[tuple[int, int]], start: int, span: int, count: int
):
    steps.sort()
    at, level = (np.array(column, dtype=np.int64) for column in zip(*steps, strict=True))

    def level_at(time: int) -> int:
        return next((value for since, value in reversed(steps) if since <= time), 0)

    edges = [start + span * part // count for part in range(count + 1)]
    parts = list(pairwise(edges))
    expected = [max(map(level_at, range(first, last)), default=None) for first, last in parts]
    found = peaks(at, level, start, start + span, count).tolist()
    assert [None if first == last else most for most, (first, last) in zip(found, parts, strict=True)] == expected


def borrowing() -> Outcome:
    """One share borrows for one second of a day, which no coarse line may lose; another lends, and a third is idle."""
    jobs = [
        Row("first", "borrower", 0, {G5: 1}, 10),
        Row("short", "borrower", 43_200, {G5: 4}, 1),
        Row("last", "lender", 86_390, {G5: 1}, 10),
    ]
    shares = {
        "borrower": share({G5: 2}, LEND_AND_BORROW),
        "lender": share({G5: 2}, LEND),
        "idle": share({G5: 1}, RESERVE),
    }
    scenario = make_scenario({G5: 5}, shares, jobs)
    return replay(scenario.topology, scenario.trace, use_compiled=False)


def test_the_report_shows_the_use_of_each_share_over_time_with_its_shortest_peak():
    rows = replay_text(assess(borrowing()), preemptions=0, color=False).partition("Instances in use over time\n")[2]
    lines = {line.split()[0]: line for line in rows.splitlines()[2:5]}
    assert lines["borrower"].split() == ["borrower", G5, "▂", "█", "4", "2"]
    assert lines["lender"].split() == ["lender", G5, "▄", "1", "2"]
    assert lines["idle"].split() == ["idle", G5, "0", "1"]
    assert "A block is the most within " in rows


def test_only_a_terminal_with_colour_has_what_is_borrowed_in_yellow():
    usage = borrowing().usage
    assert "\x1b[33m█" in rendered(use_section(usage), color=True)
    assert "\x1b" not in rendered(use_section(usage), color=False)


def test_where_no_time_passes_there_is_nothing_to_show():
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, [])
    assert list(use_section(replay(scenario.topology, scenario.trace, use_compiled=False).usage)) == []


@pytest.mark.parametrize("encoding", ["ascii", "cp437", "cp1252"])
def test_a_terminal_without_blocks_gets_plain_characters(encoding: str):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    shown = printable_on(stream, f"{BLOCKS} ── 作業")
    assert shown.startswith(f"{''.join(PLAIN.values())} -- ")
    assert "\\u4f5c" in shown
    assert printable_on(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), BLOCKS) == BLOCKS


class Terminal(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_names_from_right_to_left_keep_the_order_of_columns():
    row = "\u05e2\u05d1\u05d5\u05d3\u05d4-7 00:01:00 0.1"
    shown = printable_on(Terminal(io.BytesIO(), encoding="utf-8"), row)
    assert shown == "\u05e2\u05d1\u05d5\u05d3\u05d4\u200e-7 00:01:00 0.1"
    assert cell_len(shown) == cell_len(row)
    assert printable_on(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), row) == row


NAMES = {
    "wide": "作業" * 60,
    "wide and narrow": "学習-model ジョブ-7 " * 12,
    "right to left": "משימה עבודה " * 12,
    "control": "\x1b[31m\u202ered\u2066\x00\r\n\t" * 10,
    "combining": "e\u0301" * 120,
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
def test_any_name_stays_within_80_columns_and_tells_the_terminal_nothing(name: str):
    jobs = [Row(name, "a", 0, {G5: 1}, 900), Row(name + "2", "a", 60, {G5: 1}, 900, priority=1)]
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE, in_share_preemption=True)}, jobs)
    outcome = replay(scenario.topology, scenario.trace, use_compiled=False)
    assert len(outcome.preemptions.at) == 1
    for text in (
        replay_text(assess(outcome), preemptions=5, color=False),
        explanation_text(explain_job(outcome, 0), None, color=False),
    ):
        assert max(map(cell_len, text.splitlines())) <= 80
        assert all(character.isprintable() for line in text.splitlines() for character in line)


@given(st.text(st.sampled_from("a b作業é-\u0301"), max_size=80), st.integers(8, 30))
def test_wrapping_fills_columns_and_loses_nothing(text: str, width: int):
    lines = wrapped(text, width, initial_indent="- ", subsequent_indent="  ")
    assert all(cell_len(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "").removeprefix("-") == text.replace(" ", "") or not text.strip()
