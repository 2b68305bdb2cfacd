"""What the guide shows can be copied: every command is one that there is and runs, every program and file can be read.

README.md, the pages on rules and those of `OWN` have tests of their own, which look at what comes out, too. All other
pages, and those to come, are read here.
"""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner
from ruamel.yaml import YAML

from policy_engine.cli import main

CHECKOUT = Path(__file__).parents[1]
DOCS = CHECKOUT / "docs"
OWN = {
    "access.md": "constructs/access/test_access_page.py",
    "change-safety.md": "cli/test_pages_on_templates_and_changes.py",
    "ci.md": "report/test_comparison_pages.py",
    "comparing.md": "report/test_comparison_pages.py",
    "constructs.md": "constructs/test_constructs_page.py",
    "costs.md": "report/test_comparison_pages.py",
    "expectations.md": "report/test_comparison_pages.py",
    "explaining.md": "report/test_explaining_page.py",
    "library.md": "library/test_library_page.py",
    "observability.md": "constructs/observability/test_observability_page.py",
    "policy-validation.md": "constructs/test_policy_validation.py",
    "replay.md": "report/test_replay_page.py",
    "templates.md": "cli/test_pages_on_templates_and_changes.py",
    "topology.md": "topology/test_topology_page.py",
}
"""Pages whose programs, and whose commands with their output, have tests of their own."""
OTHER_PROGRAMS = {"aws", "cd", "cdk", "export", "git", "make", "pip", "pytest"}
"""The shell's own, and what is not ours and needs an account, a network or another checkout."""
NOT_HERE = {"emulate": "serves until it is stopped", "prices": "asks AWS"}
"""Our commands whose arguments are checked without running them."""
PHILLY = "job_id,submit_s,duration_s,gpus,team\na,0,60,1,vc1\n"


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(path: Path) -> Iterator[Block]:
    page = path.read_text(encoding="utf-8")
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^ *```$", page, re.MULTILINE | re.DOTALL):
        yield Block(path.name, page[: match.start()].count("\n") + 2, match[2], match[3])


BLOCKS = [block for path in sorted(DOCS.glob("*.md")) for block in blocks_of(path)]


class Command(NamedTuple):
    block: Block
    written: str
    prints: str | None
    """None if the page does not show it."""

    def __str__(self) -> str:
        return f"{self.block}: {self.written}"


def commands_of(block: Block) -> Iterator[Command]:
    """Those after a prompt with what they print; if there is no prompt, every line of a shell's block."""
    joined = block.text.replace("\\\n", " ")
    if re.search(r"^\$ ", joined, re.MULTILINE):
        for part in re.split(r"^\$ ", joined, flags=re.MULTILINE)[1:]:
            written, _, printed = part.partition("\n")
            yield Command(block, " ".join(written.split()), printed.strip())
    elif block.language in {"sh", "console"}:
        for line in joined.splitlines():
            if line.strip() and not line.startswith("#"):
                yield Command(block, " ".join(line.split()), None)


COMMANDS = [command for block in BLOCKS for command in commands_of(block)]


def ours(written: str) -> Iterator[list[str]]:
    """The arguments of each call of batch-quota in a line of a shell."""
    for call in re.split(r" (?:\|\|?|&&|;) ", written):
        words = shlex.split(call, comments=True)
        if words and words[0] == "batch-quota":
            yield words[1:]


def run_here(command: Command) -> bool:
    own = command.block.page in OWN and command.block.page != "replay.md"  # Its test is of its program alone.
    called = list(ours(command.written))
    alone = len(called) == 1 and not re.search(r" [|>&;]", command.written)
    return not own and alone and called[0][0] not in NOT_HERE


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the examples, where commands may leave files."""
    (tmp_path / "examples").symlink_to(CHECKOUT / "examples")
    (tmp_path / "philly.csv").write_text(PHILLY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_pages_with_tests_of_their_own_that_name_them():
    for page, test in OWN.items():
        text = (CHECKOUT / "tests" / test).read_text(encoding="utf-8")
        assert (DOCS / page).exists()
        assert page in text or f'"{page.removesuffix(".md")}"' in text, f"{test} does not read {page}"


def test_every_command_is_ours_or_a_known_one():
    unknown = {command for command in COMMANDS if command.written.split()[0] not in {"batch-quota", *OTHER_PROGRAMS}}
    assert unknown == set()
    assert len(COMMANDS) > 20


def test_every_call_of_our_command_has_a_subcommand_and_options_that_there_are():
    for command in COMMANDS:
        for arguments in ours(command.written):
            called: click.Command | None = main
            words = list(arguments)
            while isinstance(called, click.Group):
                called = called.get_command(click.Context(called), words.pop(0))
            assert called is not None, command
            known = {option for parameter in called.params for option in (*parameter.opts, *parameter.secondary_opts)}
            given = {word.partition("=")[0] for word in words if re.match(r"-{1,2}[a-z]", word)}
            assert given <= known | {"-h", "--help"}, command


@pytest.mark.parametrize("command", [command for command in COMMANDS if run_here(command)], ids=str)
def test_a_command_runs_and_prints_what_the_page_shows(command: Command, desk: Path):
    (arguments,) = ours(command.written)
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert done.output
    if command.prints is not None:
        pattern = re.escape(command.prints).replace("…", ".*")
        assert re.fullmatch(pattern, done.output.strip(), re.DOTALL), done.output


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language == "python"], ids=str)
def test_a_program_can_be_compiled_and_runs_unless_its_page_has_a_test(block: Block, desk: Path):
    program = compile(block.text, str(block), "exec")
    if block.page not in OWN and block.page != "emulator.md":  # The emulator's are parts of tests.
        exec(program, {})  # noqa: S102 (our own page)


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.language in {"yaml", "json"}], ids=str)
def test_a_file_that_is_shown_can_be_read(block: Block):
    read = json.loads(block.text) if block.language == "json" else YAML(typ="safe").load(block.text)
    assert read
