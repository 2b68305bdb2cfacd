"""docs/explaining.md: what it explains is what there is, and what it shows is what comes out."""

import re
import subprocess
import sys
from pathlib import Path

from policy_engine.explanation.prevention import MOST_REPLAYS, MUCH_LESS
from policy_engine.explanation.waits import WaitReason

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explaining.md").read_text(encoding="utf-8")


def printed(folder: Path, arguments: list[str]) -> str:
    command = [sys.executable, "-c", "from policy_engine.cli import main; main()", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_first_command_runs():
    command = re.findall(r"```console\n(batch-quota .*)\n```", PAGE)[0]
    assert printed(ROOT, command.split()[1:])


def test_its_example_prints_what_it_shows(tmp_path: Path):
    (trace,) = re.findall(r"```csv\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "notebook.csv").write_text(trace, encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    ((command, output),) = re.findall(r"```console\n\$ (batch-quota [^\n]*)\n(.*?)```", PAGE, re.DOTALL)
    assert printed(tmp_path, command.split()[1:]) == output


def test_every_reason_of_a_wait_is_explained():
    assert re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE) == [reason.value for reason in WaitReason]


def test_the_numbers_are_those_of_the_code():
    assert MUCH_LESS == 10
    assert f"{MOST_REPLAYS} by default" in PAGE


def test_its_python_runs():
    (script,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    relative = script.replace("examples/", f"{ROOT}/examples/")
    exec(compile(relative, "docs/explaining.md", "exec"), names)  # noqa: S102
    assert names["explanation"].life.steps
    assert names["document"]["version"] == 1
    assert len(names["paragraphs"]) == 20
