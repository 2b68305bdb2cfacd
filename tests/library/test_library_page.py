"""docs/library.md runs from top to bottom, as a notebook would."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
CELLS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_its_cells_run_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for number, cell in enumerate(CELLS, 1):
        exec(compile(cell, f"docs/library.md, cell {number}", "exec"), names)  # noqa: S102
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "wait_p95" in printed.out
    assert "What would have prevented it" in printed.out
    assert "findings, the first:" in printed.out
    chart = (tmp_path / "usage.html").read_text(encoding="utf-8")
    assert chart.count("research") >= 10
    assert {"x", "y", "color", "row"} <= set(names["chart"].to_dict()["encoding"])
    assert sum(map(len, names["hours"])) < 5_000, "more rows than Altair draws"


def test_the_example_replays_compares_and_plots_in_ten_lines():
    statements = [line for line in CELLS[0].splitlines() if line and not line.startswith(("import ", "from "))]
    assert len(statements) <= 10
    assert all(call in CELLS[0] for call in ("replay(", "compare(", "alt.Chart("))
