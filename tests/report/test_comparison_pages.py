"""docs/ci.md, comparing.md, costs.md and expectations.md: they explain what there is, and what they show runs."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from policy_engine.cli import main
from policy_engine.pricing import parse_prices
from policy_engine.report.cost_text import _COLUMNS as COST_COLUMNS
from policy_engine.topology import Metric

ROOT = Path(__file__).parents[2]
PAGES = {
    name: (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    for name in ("ci", "comparing", "costs", "expectations")
}
NEXT = (ROOT / "examples" / "changes" / "next.yaml").read_text(encoding="utf-8")
COMMANDS = [
    command
    for page in PAGES.values()
    for block in re.findall(r"```console\n(batch-quota.*?)```", page, re.DOTALL)
    for command in block.replace("\\\n", "").splitlines()
]


@pytest.fixture(autouse=True)
def _in_a_folder_with_the_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command: str):
    program, *arguments = shlex.split(command)
    assert program == "batch-quota"
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, bool(result.output)) == (0, True), result.stderr


@pytest.mark.parametrize("name", ["comparing", "costs"])
def test_python_runs(name: str):
    (script,) = re.findall(r"```python\n(.*?)```", PAGES[name], re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(script, f"docs/{name}.md", "exec"), names)  # noqa: S102
    frame = names["waits" if name == "comparing" else "by_team"]
    assert len(frame) == (3 if name == "comparing" else 2)


def test_what_broke_an_expectation_is_shown_as_it_is_printed(tmp_path: Path):
    page = PAGES["expectations"]
    (added,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "strict.yaml").write_text(NEXT + added)
    ((command, shown),) = re.findall(r"```console\n\$ (.*?) \| tail -4\n(.*?)```", page, re.DOTALL)
    result = CliRunner().invoke(main, shlex.split(command)[1:])
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-4:] == shown.splitlines()


def test_every_metric_is_said_how_it_is_measured():
    table = PAGES["expectations"].partition("| metric | how")[2].partition("\n\n")[0]
    assert sorted(re.findall(r"`([a-z0-9_]+)`", table)) == sorted(Metric)


def test_every_column_of_costs_is_explained():
    assert set(COST_COLUMNS) <= set(re.findall(r"^\| ([a-z ]+) \|", PAGES["costs"], re.MULTILINE))


def test_the_price_file_that_is_shown_can_be_read():
    (shown,) = re.findall(r"```yaml\n(.*?)```", PAGES["costs"], re.DOTALL)
    assert parse_prices(shown).per_hour == {"ml.g5.xlarge": 1.25, "ml.p5.48xlarge": 60}


def test_bounds_are_ones(tmp_path: Path):
    bounds = re.findall(r"^\| `(\".*?\")` \|", PAGES["expectations"].partition("## Bounds")[2], re.MULTILINE)
    assert len(bounds) == 4
    for bound in bounds:
        metric = "goodput" if "%" in bound else "wait_max"
        topology = tmp_path / "topology.yaml"
        topology.write_text(f"{NEXT}\nexpectations: {{search: {{{metric}: {bound}}}}}\n")
        assert CliRunner().invoke(main, ["validate", "topology.yaml"]).exit_code == 0
