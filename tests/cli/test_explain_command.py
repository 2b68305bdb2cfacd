"""`batch-quota explain`: from files to a job's life."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli import main

ROOT = Path(__file__).parents[2]
TOPOLOGY = ROOT / "examples" / "notebook.yaml"
TRACE = """\
job_id,share,submitted_at,instance_type,instance_count,runtime_seconds,priority
high,QS1,0,ml.g5.xlarge,1,300,3
med,QS1,0,ml.g5.xlarge,1,300,2
low,QS1,0,ml.g5.xlarge,1,300,1
qs2,QS2,60,ml.g5.xlarge,1,300,1
"""
EVENTS = "at,event,job,priority\n30,update_priority,low,9\n"


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["explain", *map(str, arguments)], input=text)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


def document(*arguments: object) -> dict[str, object]:
    result = run(*arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_a_life_is_on_standard_output_and_notes_are_not(trace: Path):
    result = run(TOPOLOGY, trace, "med")
    assert result.exit_code == 0
    assert result.stdout.startswith("med of QS1\n1 ml.g5.xlarge for 5m00s, priority 2, no checkpoint.\n")
    assert "00:01:00  PREEMPTED for qs2 of QS2" in result.stdout
    assert result.stdout.endswith(".\n")
    assert result.stderr == ""


def test_an_explanation_is_json(trace: Path):
    assert [step["step"] for step in document(TOPOLOGY, trace, "med")["steps"]] == ["ATTEMPT", "WAIT", "ATTEMPT"]


def test_assumptions_events_and_the_end_are_part_of_it(trace: Path, tmp_path: Path):
    events = tmp_path / "events.csv"
    events.write_text(EVENTS)
    assert document(TOPOLOGY, trace, "med", "--assume", "stop_seconds=30")["steps"][0]["stopped_at"] == 90
    told = document(TOPOLOGY, trace, "med", "--events", events, "--until", "40")
    assert (told["ended_at"], told["job"]["status"]) == (40, "RUNNING")
    assert document(TOPOLOGY, trace, "low", "--events", events)["steps"][0]["from"] == 0


def test_no_changes_are_tried_when_none_are_asked_for(trace: Path):
    assert document(TOPOLOGY, trace, "med", "--replays", 0)["prevention"] is None
    assert document(TOPOLOGY, trace, "med", "--replays", 2)["prevention"]["replays"] == 2
    assert "What would have prevented it" not in run(TOPOLOGY, trace, "med", "--replays", 0).stdout


@pytest.mark.parametrize(
    ("job", "mend"),
    [
        ("hig", "did you mean 'high'?"),
        ("nothing-like-it", "its ids are like 'high', 'med', 'low'"),
        ("", "its ids are like 'high', 'med', 'low'"),
    ],
)
def test_a_job_that_is_not_there_is_one_clear_message(trace: Path, job: str, mend: str):
    result = run(TOPOLOGY, trace, job)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"there is no job '{job}' in" in result.stderr
    assert mend in result.stderr
    assert "Traceback" not in result.stderr


def test_a_very_long_wrong_name_is_cut(trace: Path):
    assert len(run(TOPOLOGY, trace, "x" * 10_000).stderr) < 600


def test_a_trace_comes_through_a_pipe():
    assert run(TOPOLOGY, "-", "med", text=TRACE).exit_code == 0


@pytest.mark.parametrize("missing", ["topology", "trace"])
def test_a_file_that_is_not_there_is_a_reading_error(trace: Path, missing: str):
    files = {"topology": TOPOLOGY, "trace": trace, missing: "missing"}
    result = run(files["topology"], files["trace"], "med")
    assert result.exit_code == 2
    assert "missing" in result.stderr


def test_an_error_in_the_topology_is_found_before_anything_is_replayed(trace: Path, tmp_path: Path):
    path = tmp_path / "wrong.yaml"
    path.write_text(TOPOLOGY.read_text().replace("borrow_limit: 200", "borrow_limit: -7"))
    result = run(path, trace, "med")
    assert result.exit_code == 1
    assert "not replayed" in result.stderr


def test_a_file_is_written_whole_and_no_other_is_overwritten(trace: Path, tmp_path: Path):
    out = tmp_path / "out.json"
    result = run(TOPOLOGY, trace, "med", "--format", "json", "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "'med' explained, written to" in result.stderr
    assert json.loads(out.read_text())["version"] == 1
    again = run(TOPOLOGY, trace, "low", "-o", out)
    assert again.exit_code == 2
    assert "--force overwrites it" in again.stderr
    assert json.loads(out.read_text())["job"]["id"] == "med"
    assert run(TOPOLOGY, trace, "low", "-o", out, "--force").exit_code == 0
    assert out.read_text().startswith("low of QS1\n")
    assert list(tmp_path.glob(".*")) == []


def test_only_one_input_is_standard_input():
    assert "only one of" in run("-", "-", "med").stderr


def test_its_examples_run_as_they_are_printed(tmp_path: Path):
    help_text = run("--help").stdout
    assert max(map(len, help_text.splitlines())) <= 80
    examples = help_text.partition("Examples:")[2].replace("\\\n", " ")
    commands = re.findall(r"^ *(batch-quota explain .*)$", examples, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        arguments = shlex.split(command.replace("explanation.json", str(tmp_path / "explanation.json")))[1:]
        done = subprocess.run(
            [sys.executable, "-c", "from policy_engine.cli import main; main()", *arguments],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "explanation.json").exists()


def test_the_schema_of_what_it_prints_is_printed():
    result = CliRunner().invoke(main, ["schema", "explanation"])
    assert result.exit_code == 0
    assert json.loads(result.stdout)["title"] == "Explanation"
