import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
CLEAN = (ROOT / "examples" / "ml-training.yaml").read_text()
COMMAND = [sys.executable, "-c", "from policy_engine.cli import main; main()"]
HEAVY = ("numpy", "polars", "numba", "boto3", "botocore", "aws_cdk", "jsii", "moto", "rich", "difflib")


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["validate", *map(str, arguments)], input=text)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.fixture
def clean(tmp_path: Path) -> Path:
    return written(tmp_path, "clean.yaml", CLEAN)


@pytest.fixture
def warned(tmp_path: Path) -> Path:
    """A topology without the time limits whose lack is a warning."""
    return written(tmp_path, "warned.yaml", re.sub(r"  time_limits:.*?(?=  tags:)", "", CLEAN, flags=re.DOTALL))


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A topology that AWS would refuse."""
    return written(tmp_path, "wrong.yaml", CLEAN.replace("priority: 10", "priority: 1001"))


@pytest.fixture
def unreadable(tmp_path: Path) -> Path:
    return written(tmp_path, "unreadable.yaml", CLEAN.replace("strategy: RESERVE", "strategy: RESERVED"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_examples_have_no_findings(path: Path):
    result = run("--strict", path)
    assert (result.stdout, result.stderr, result.exit_code) == ("", "1 topology: no findings\n", 0)


def test_an_error_of_a_rule_ends_with_status_1_at_its_line(wrong: Path):
    result = run(wrong)
    assert result.exit_code == 1
    assert re.match(rf"{re.escape(str(wrong))}:\d+:13: error QM1\d\d ", result.stdout)
    assert "|   priority: 1001\n" in result.stdout
    assert "|             ^^^^\n" in result.stdout
    assert result.stderr == "1 topology: 1 error\n"


def test_warnings_alone_end_with_status_0_unless_strict(warned: Path):
    assert run(warned).exit_code == 0
    assert run("--strict", warned).exit_code == 1
    assert "warning QM3" in run(warned).stdout


def test_a_topology_that_cannot_be_read_ends_with_status_2(unreadable: Path):
    result = run(unreadable)
    assert result.exit_code == 2
    assert result.stdout.count("error QM003 'strategy': expected RESERVE, LEND or LEND_AND_BORROW") == 2
    assert "help: did you mean 'RESERVE'?" in result.stdout


def test_every_file_is_reported_and_the_worst_decides(clean: Path, wrong: Path, unreadable: Path, tmp_path: Path):
    result = run(tmp_path / "missing.yaml", wrong, clean, unreadable)
    assert result.exit_code == 2
    files = [line.split(":")[0] for line in result.stdout.splitlines() if re.match(r"\S+:\d+:\d+: ", line)]
    assert [Path(file).name for file in dict.fromkeys(files)] == ["missing.yaml", "wrong.yaml", "unreadable.yaml"]
    assert result.stderr == "4 topologies: 4 errors\n"


def test_findings_stand_by_position(tmp_path: Path):
    text = CLEAN.replace("priority: 10", "priority: 1001").replace("max_priority: 900", "max_priority: 10000")
    places = re.findall(r"^\S+?:(\d+):(\d+): ", run(written(tmp_path, "t.yaml", text)).stdout, re.MULTILINE)
    assert len(places) >= 2
    assert places == sorted(places, key=lambda place: (int(place[0]), int(place[1])))


def test_json_has_every_file_and_the_summary_stays_off_standard_output(wrong: Path, clean: Path):
    result = run("--format", "json", wrong, clean)
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [(entry["file"], len(entry["findings"])) for entry in document["files"]] == [
        (str(wrong), 1),
        (str(clean), 0),
    ]
    (finding,) = document["files"][0]["findings"]
    assert finding["path"] == ["queue", "priority"]
    assert finding["position"]["column"] == 13
    assert document["summary"]["error"] == 1
    assert result.stderr == "2 topologies: 1 error\n"


def test_a_dash_reads_standard_input():
    assert run("-", text=CLEAN).exit_code == 0
    result = run("-", text="name: [\n")
    assert (result.exit_code, result.stdout.split(" ")[0]) == (2, "<stdin>:2:1:")


def test_json_topologies_are_read_too(tmp_path: Path):
    path = written(tmp_path, "t.json", '{\n\t"name": "t",\n\t"capacity": {"ml.g5.xlarge": "2"},\n\t"teams": {}\n}\n')
    assert run(path).stdout.startswith(f"{path}:3:31: error QM003 'ml.g5.xlarge': expected a whole number, not '2'\n")


def test_without_a_topology_the_help_is_printed():
    result = run()
    assert result.exit_code == 2
    assert "Usage: main validate [OPTIONS] TOPOLOGY..." in result.stderr + result.stdout


def test_the_examples_of_the_help_run_as_printed(tmp_path: Path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    lines = run("--help").stdout.splitlines()
    examples = [line.strip() for line in lines if line.strip().startswith("batch-quota validate ")]
    assert len(examples) == 4
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for example in examples:
        shell = ["sh", "-c", example]
        done = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.endswith(": no findings\n")) == (0, True)


def test_the_help_fits_80_columns():
    assert all(len(line) <= 80 for line in run("--help").stdout.splitlines())


def on_a_terminal(path: Path, environment: Mapping[str, str]) -> bytes:
    """What the command prints if standard output is a terminal."""
    terminal, standard_output = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "validate", str(path)],
        stdout=standard_output,
        stderr=subprocess.PIPE,
        env={**os.environ, **environment},
    ) as process:
        process.communicate()
    os.close(standard_output)
    try:
        return os.read(terminal, 65536)
    finally:
        os.close(terminal)


def test_color_is_for_terminals_only_and_no_color_is_respected(wrong: Path):
    plain = subprocess.run([*COMMAND, "validate", str(wrong)], capture_output=True, check=False).stdout
    assert b"\x1b" not in plain
    assert b"\x1b[31m" in on_a_terminal(wrong, {"NO_COLOR": "", "TERM": "xterm"})
    assert b"\x1b" not in on_a_terminal(wrong, {"NO_COLOR": "1", "TERM": "xterm"})


def test_what_the_output_cannot_encode_is_escaped(tmp_path: Path):
    path = written(tmp_path, "t.yaml", CLEAN.replace("name: ml-training", "name: [\N{ROCKET}]"))
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [*COMMAND, "validate", str(path)], capture_output=True, text=True, env=environment, check=False
    )
    assert (done.returncode, done.stderr) == (2, "1 topology: 1 error\n")
    assert "name: [\\U0001f680]" in done.stdout


def test_validating_imports_nothing_heavy(clean: Path):
    program = (
        "import sys\n"
        "from policy_engine.cli import main\n"
        "try:\n    main(['validate', sys.argv[1]])\n"
        "except SystemExit as done:\n    assert done.code == 0\n"
        "print(*sorted(sys.modules), sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program, str(clean)], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    imported = {name.partition(".")[0] for name in modules}
    assert "pydantic" in imported
    assert "policy_engine.template" not in modules
    assert imported.isdisjoint(HEAVY)
