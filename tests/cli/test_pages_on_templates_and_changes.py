"""The commands and programs on the pages about templates and changes do what the pages say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]
PAGES = [CHECKOUT / "docs" / name for name in ("templates.md", "change-safety.md")]
ELISION = "…"


def commands(page: Path) -> list[tuple[str, str]]:
    """Each command that is shown with a prompt, and what it prints."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command = re.match(r"(?:.*\\\n)*.*\n", part)
            assert command is not None
            found.append((command[0].replace("\\\n", " ").strip(), part[command.end() :].strip()))
    return found


SHOWN = [(command, printed) for page in PAGES for command, printed in commands(page)]


def test_both_pages_show_commands():
    assert all(commands(page) for page in PAGES)


@pytest.mark.parametrize(("command", "printed"), SHOWN, ids=[command for command, _ in SHOWN])
def test_a_command_prints_what_the_page_shows(command: str, printed: str):
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    output = subprocess.run(
        ["sh", "-c", command],
        cwd=CHECKOUT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    ).stdout
    pattern = re.escape(printed).replace(re.escape(ELISION), ".*")
    assert re.fullmatch(pattern, output.strip(), re.DOTALL), output


def test_the_python_of_the_page_on_templates_runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGES[0].read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(CHECKOUT)
    exec(compile(code, "templates.md", "exec"), {})  # noqa: S102 (our own page)
    assert capsys.readouterr().out == "QM302 Environment Properties.CapacityLimits.0.MaxCapacity\n"
