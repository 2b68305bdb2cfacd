"""The README's commands print what it says they print."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
ELISION = "…"
NEEDS_AWS = ("cdk bootstrap", "cdk diff", "cdk deploy")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each command of the console blocks with the lines that it prints. `make demo` prints commands of its own."""
    for block in blocks("console"):
        command, printed = "", list[str]()
        for line in block.splitlines():
            if line.startswith("$ ") and command != "make demo":
                if command:
                    yield command, printed
                command, printed = line.removeprefix("$ "), []
            else:
                printed.append(line)
        yield command, printed


def prints(output: str, expected: list[str]) -> bool:
    """Whether the lines are the output, where … stands for any text, also of several lines."""
    pattern = re.escape("\n".join(expected)).replace(re.escape(ELISION), ".*")
    return re.fullmatch(pattern, output.strip(), re.DOTALL) is not None


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder like the checkout, where commands may leave files, with the topology that the README shows."""
    folder = tmp_path / "desk"
    folder.mkdir()
    for entry in CHECKOUT.iterdir():
        if entry.name not in {".cache", ".git", ".venv", "cdk.out"}:
            (folder / entry.name).symlink_to(entry)
    (folder / ".venv").symlink_to(sys.prefix)
    # Hundreds of megabytes that every run would unpack anew.
    unpacked = CHECKOUT / ".cache" / "jsii"
    unpacked.mkdir(parents=True, exist_ok=True)
    (folder / ".cache").mkdir()
    (folder / ".cache" / "jsii").symlink_to(unpacked)
    (topology,) = blocks("yaml")
    (folder / "training.yaml").write_text(topology, encoding="utf-8")
    return folder


@pytest.fixture
def run(desk: Path, tmp_path: Path) -> Callable[[str], str]:
    """Runs a command there, as somebody with an empty home, and gives all that it prints."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "home"),
        "TMPDIR": str(tmp_path / "tmp"),
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": str(desk / ".cache" / "jsii"),
        "AWS_PROFILE": "no-such-profile",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    for folder in ("HOME", "TMPDIR"):
        Path(environment[folder]).mkdir()

    def execute(command: str) -> str:
        return subprocess.run(
            ["sh", "-c", command],
            cwd=desk,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        ).stdout

    return execute


def test_the_demo_prints_what_the_readme_shows_and_leaves_nothing_outside_the_checkout(
    run: Callable[[str], str], tmp_path: Path
):
    (expected,) = [printed for command, printed in commands() if command == "make demo"]
    # What it would install is there already: the tests run on it.
    output = run("make demo INSTALLED=")
    assert prints(output, expected), output
    assert list((tmp_path / "home").iterdir()) == []
    assert list((tmp_path / "tmp").iterdir()) == []


def test_the_commands_for_a_topology_of_ones_own_print_what_the_readme_shows(run: Callable[[str], str]):
    wrong = []
    for command, expected in commands():
        if command.startswith(("make", *NEEDS_AWS)):
            continue
        output = run(f". .venv/bin/activate && {command}")
        if not prints(output, expected):
            wrong.append(f"$ {command}\n{output}")
    assert not wrong, "\n".join(wrong)


def test_commands_that_need_aws_are_shown_without_output():
    assert [printed for command, printed in commands() if command.startswith(NEEDS_AWS)] == [[], [], []]
