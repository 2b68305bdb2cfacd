"""docs/replay.md: what it explains is what there is, and its program runs. tests/test_snippets.py runs its commands."""

import re
from pathlib import Path

from policy_engine.assessment.summary import PERCENTILES
from policy_engine.scheduler.livelock import FUTILE_STOPS, Cause
from policy_engine.scheduler.replay import COMPILE_FROM

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "replay.md").read_text(encoding="utf-8")


def test_every_column_of_the_table_is_explained():
    explained = PAGE.partition("## What the table says")[2].partition("## Livelocks")[0]
    first_cells = ", ".join(re.findall(r"^\| ([^|]+) \|", explained, re.MULTILINE))
    for heading in ("jobs", "not run", "suffered", "caused", "lost h", "limit", "own", "borrowed", "lent", "idle"):
        assert heading in first_cells
    for heading in ("in use", "goodput", "pending", *(name.removeprefix("wait_") for name in PERCENTILES)):
        assert heading in first_cells or heading == "p99"


def test_every_cause_of_a_livelock_is_explained():
    assert re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE) == [cause.value for cause in Cause]


def test_the_numbers_are_those_of_the_code():
    assert FUTILE_STOPS == 3
    assert f"{COMPILE_FROM:,} jobs and more" in PAGE


def test_its_python_runs():
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    relative = script.replace("examples/", f"{ROOT}/examples/")
    exec(compile(relative, "docs/replay.md", "exec"), names)  # noqa: S102
    assert names["document"]["version"] == 1
    assert {"own", "lent"} <= set(names["steps"].columns)
    assert {"own_instance_hours", "lent_instance_hours"} <= set(names["shares"].columns)
