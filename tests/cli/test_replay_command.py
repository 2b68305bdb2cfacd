"""`batch-quota replay`: from files to a report."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli import main
from policy_engine.scheduler.replay import COMPILE_FROM

ROOT = Path(__file__).parents[2]
TOPOLOGY = ROOT / "examples" / "notebook.yaml"
COMMAND = [sys.executable, "-c", "from policy_engine.cli import main; main()", "replay"]
TRACE = """\
job_id,share,submitted_at,instance_type,instance_count,runtime_seconds,priority
high,QS1,0,ml.g5.xlarge,1,300,3
med,QS1,0,ml.g5.xlarge,1,300,2
low,QS1,0,ml.g5.xlarge,1,300,1
qs2,QS2,60,ml.g5.xlarge,1,300,1
"""
WARNED = """\
name: warned
capacity: {ml.g5.xlarge: 9}
teams: {all: {shares: {QS1: &one {capacity: {ml.g5.xlarge: 1}, strategy: LEND}, QS2: *one}}}
"""
EVENTS = """\
at,event,job,priority
120,update_priority,low,4
"""


def run(*arguments: object, text: str | bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["replay", *map(str, arguments)], input=text)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


@pytest.fixture
def events(tmp_path: Path) -> Path:
    path = tmp_path / "events.csv"
    path.write_text(EVENTS)
    return path


def topology(tmp_path: Path, more: str = "", **replacements: str) -> Path:
    """The notebook's topology with something added or replaced."""
    text = TOPOLOGY.read_text()
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    path = tmp_path / "topology.yaml"
    path.write_text(f"{text}\n{more}\n")
    return path


def outcome(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


# What it prints


def test_the_table_is_on_standard_output_and_notes_are_not(trace: Path):
    result = run(TOPOLOGY, trace)
    assert result.exit_code == 0
    assert result.stdout.startswith("notebook: 4 jobs of 2 shares, 13m00s replayed\n")
    assert re.search(r"^med +qs2 +00:01:00 +cross-share", result.stdout, re.MULTILINE)
    assert result.stderr.count("\n") <= 1


def test_the_outcome_is_json(trace: Path):
    document = outcome(run(TOPOLOGY, trace, "--format", "json"))
    assert [job["id"] for job in document["jobs"]] == ["high", "med", "low", "qs2"]
    assert document["preemptions"][0]["victim"] == "med"
    assert "usage" not in document


def test_events_are_part_of_the_replay(trace: Path, events: Path):
    document = outcome(run(TOPOLOGY, trace, "--events", events, "--format", "json"))
    assert [(made["victim"], made["kind"]) for made in document["preemptions"]] == [
        ("med", "CROSS_SHARE"),
        ("high", "IN_SHARE"),
    ]


def test_usage_is_added_when_asked_for(trace: Path):
    document = outcome(run(TOPOLOGY, trace, "--format", "json", "--usage"))
    assert {series["share"] for series in document["usage"]} == {"QS1", "QS2", "QS3"}


@pytest.mark.parametrize(("until", "ended_at"), [("90", 90), ("1m30s", 90), ("2d", 172_800), ("0", 0)])
def test_a_replay_stops_where_it_is_told(trace: Path, until: str, ended_at: int):
    assert outcome(run(TOPOLOGY, trace, "--until", until, "--format", "json"))["ended_at"] == ended_at


def test_a_replay_of_dates_stops_at_a_date(tmp_path: Path):
    path = tmp_path / "dated.csv"
    path.write_text(
        "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds\n"
        "a,QS3,2026-03-02T08:00:00Z,ml.g5.xlarge,1,600\n"
    )
    document = outcome(run(TOPOLOGY, path, "--until", "2026-03-02T08:05:00Z", "--format", "json"))
    assert (document["started_at"], document["ended_at"]) == ("2026-03-02T08:00:00.000Z", 300)
    assert document["jobs"][0]["status"] == "RUNNING"


@pytest.mark.parametrize(
    ("until", "message"),
    [
        ("soon", "expected a duration such as 90s"),
        ("-5", "expected a duration"),
        ("2026-03-02", "a date needs a trace with dates; this one has seconds"),
    ],
)
def test_a_time_to_stop_at_that_is_none_is_refused(trace: Path, until: str, message: str):
    result = run(TOPOLOGY, trace, f"--until={until}")
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_trace_comes_through_a_pipe():
    assert run(TOPOLOGY, "-", text=TRACE).stdout.startswith("notebook: 4 jobs")
    lines = [
        {"job_id": "a", "share": "QS1", "submitted_at": 0, "instances": "ml.g5.xlarge=1", "runtime_seconds": 5},
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    assert run(TOPOLOGY, "-", "--trace-format", "jsonl", text=text).stdout.startswith("notebook: 1 job of 1 share")


def test_a_topology_comes_through_a_pipe(trace: Path):
    assert run("-", trace, text=TOPOLOGY.read_text()).stdout.startswith("notebook: 4 jobs")


def test_only_one_input_can_be_standard_input():
    result = run("-", "-")
    assert (result.exit_code, "only one of TOPOLOGY, TRACE and the files" in result.stderr) == (2, True)


# Assumptions


def assumptions(result: Result) -> dict[str, object]:
    return outcome(result)["assumptions"]


def test_assumptions_are_set_one_by_one(trace: Path):
    chosen = ["--assume", "head_of_line=per_unit", "--assume", "stop_seconds=5m", "--assume", "resume_seconds=1.5"]
    made = assumptions(run(TOPOLOGY, trace, *chosen, "--format", "json"))
    assert (made["head_of_line"], made["stop_seconds"], made["resume_seconds"]) == ("per_unit", 300, 1.5)
    assert "  stop_seconds    5m\n" in run(TOPOLOGY, trace, *chosen).stdout


def test_a_switch_by_instance_type_takes_one_value_for_all_or_one_for_a_type(tmp_path: Path, trace: Path):
    path = topology(tmp_path, "assumptions: {startup_seconds: {default: 3m, ml.g5.xlarge: 6m}}")

    def startup(*chosen: str) -> object:
        return assumptions(run(path, trace, *chosen, "--format", "json"))["startup_seconds"]

    assert startup() == {"default": 180, "ml.g5.xlarge": 360}
    assert startup("--assume", "startup_seconds=1m") == {"default": 60}
    assert startup("--assume", "startup_seconds.ml.g5.xlarge=10m") == {"default": 180, "ml.g5.xlarge": 600}
    assert startup("--assume", "startup_seconds.default=0") == {"default": 0, "ml.g5.xlarge": 360}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("head_of_line", "expected SWITCH=VALUE, not 'head_of_line'"),
        ("head_of_lime=strict", "there is no switch 'head_of_lime'; did you mean 'head_of_line'?"),
        (
            "victim_order=youngst",
            "victim_order: expected one of lowest_priority_youngest, lowest_priority_oldest, youngest, oldest, fewest, "
            "not 'youngst'; did you mean 'youngest'?",
        ),
        ("stop_seconds=-5", "stop_seconds: expected a duration such as 90s"),
        ("capacity_retry_seconds=0", "capacity_retry_seconds: Input should be greater than 0"),
        ("stop_seconds.ml.g5.xlarge=5m", "stop_seconds has one value for all instance types; write stop_seconds=VALUE"),
        ("startup_seconds.ml.g5.xlarg=5m", "the topology has no 'ml.g5.xlarg'; did you mean 'ml.g5.xlarge'?"),
    ],
)
def test_an_assumption_that_makes_no_sense_is_refused_with_what_would(trace: Path, text: str, message: str):
    result = run(TOPOLOGY, trace, "--assume", text)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_all_wrong_assumptions_are_told_at_once(trace: Path):
    result = run(TOPOLOGY, trace, "--assume", "a=1", "--assume", "b=2")
    assert "'a'" in result.stderr
    assert "'b'" in result.stderr


# Inputs that cannot be used


def test_bad_rows_are_all_reported_with_their_lines_and_nothing_is_replayed(tmp_path: Path):
    path = tmp_path / "bad.csv"
    path.write_text(
        "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds\n"
        "a,QS1,0,ml.g5.xlarge,0,300\n"
        "b,QS4,0,ml.g5.xlarge,1,300\n"
        "c,QS1,0,ml.g5.xlarge,1,NaN\n"
    )
    result = run(TOPOLOGY, path)
    assert (result.exit_code, result.stdout) == (2, "")
    for line in (2, 3, 4):
        assert f"{path}:{line}:" in result.stderr


def test_events_about_what_is_not_there_are_reported(tmp_path: Path, trace: Path):
    path = tmp_path / "events.csv"
    path.write_text("at,event,job\n5,terminate,nobody\n")
    result = run(TOPOLOGY, trace, "--events", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f'{path}:2:13: error TR034 job: the trace has no job "nobody"' in result.stderr


def test_a_topology_that_cannot_be_read_ends_with_status_2(tmp_path: Path, trace: Path):
    result = run(topology(tmp_path, **{"strategy: RESERVE": "strategy: RESERVED"}), trace)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "did you mean 'RESERVE'?" in result.stderr


def test_a_topology_in_which_a_rule_finds_an_error_is_not_replayed(tmp_path: Path, trace: Path):
    path = topology(tmp_path, "queue: {priority: 1001}")
    result = run(path, trace)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"{path}:" in result.stderr
    assert f"not replayed: 1 error in {path}" in result.stderr


def test_warnings_of_rules_are_counted_and_left_to_validate(tmp_path: Path, trace: Path):
    path = tmp_path / "topology.yaml"
    path.write_text(WARNED)
    result = run(path, trace)
    assert result.exit_code == 0
    assert re.search(rf"^\d+ warnings? about {re.escape(str(path))}; `batch-quota validate", result.stderr)


# Expectations are a gate


@pytest.mark.parametrize(("most", "status"), [(0, 1), (1, 0)])
@pytest.mark.parametrize("output_format", ["table", "json"])
def test_a_broken_expectation_ends_with_status_1(
    tmp_path: Path, trace: Path, output_format: str, most: int, status: int
):
    path = topology(tmp_path, f"expectations: {{QS1: {{preemptions: {most}}}}}")
    result = run(path, trace, "--format", output_format)
    assert result.exit_code == status
    assert "the first: med at 00:01:00" in result.stdout or status == 0


def test_a_report_is_written_also_if_an_expectation_is_broken(tmp_path: Path, trace: Path):
    path = topology(tmp_path, "expectations: {QS1: {preemptions: 0}}")
    assert run(path, trace, "-o", tmp_path / "report.txt").exit_code == 1
    assert "1 expectation: 1 broken" in (tmp_path / "report.txt").read_text()


# Files


def test_a_report_goes_to_a_file(tmp_path: Path, trace: Path):
    path = tmp_path / "outcome.json"
    result = run(TOPOLOGY, trace, "--format", "json", "-o", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"4 jobs replayed, written to {path}" in result.stderr
    assert path.read_text() == run(TOPOLOGY, trace, "--format", "json").stdout


def test_a_file_that_is_there_is_kept_unless_told_otherwise(tmp_path: Path, trace: Path):
    path = tmp_path / "outcome.json"
    path.write_text("mine")
    result = run(TOPOLOGY, trace, "--format", "json", "-o", path)
    assert (result.exit_code, result.stdout, path.read_text()) == (2, "", "mine")
    assert f"{path} exists already; --force overwrites it" in result.stderr
    assert run(TOPOLOGY, trace, "--format", "json", "-o", path, "--force").exit_code == 0
    assert json.loads(path.read_text())["version"] == 1


def test_a_file_that_is_there_stays_as_it_is_if_the_replay_cannot_be_made(tmp_path: Path, trace: Path):
    path = tmp_path / "outcome.json"
    path.write_text("mine")
    assert run(TOPOLOGY, trace, "-o", path, "--force", "--until", "never").exit_code == 2
    assert path.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == [path, trace]


def test_the_same_input_makes_the_same_bytes(trace: Path, events: Path):
    first, second = (run(TOPOLOGY, trace, "--events", events, "--format", "json", "--usage") for _ in range(2))
    assert first.stdout == second.stdout


# As a process


def imported(trace: Path, *arguments: object) -> set[str]:
    """The modules that a replay imports."""
    script = (
        "import sys\nfrom policy_engine.cli import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", script, "replay", str(TOPOLOGY), str(trace), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_a_small_trace_is_replayed_without_a_compiler_or_aws(trace: Path):
    assert not imported(trace) & {"numba", "llvmlite", "boto3", "moto", "aws_cdk", "jsii"}
    assert not imported(trace, "--format", "json") & {"numba", "rich"}


def test_a_reader_that_has_enough_gets_no_traceback(trace: Path):
    replaying = subprocess.Popen([*COMMAND, str(TOPOLOGY), str(trace)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert replaying.stdout is not None
    replaying.stdout.close()
    _, errors = replaying.communicate()
    assert b"Traceback" not in errors


def test_colour_is_for_terminals_that_want_it(trace: Path):
    command = [*COMMAND, str(TOPOLOGY), str(trace)]
    assert b"\x1b[" in on_a_terminal(command, {})
    assert b"\x1b[" not in on_a_terminal(command, {"NO_COLOR": "1"})
    assert b"\x1b[" not in subprocess.run(command, capture_output=True, check=True).stdout


def on_a_terminal(command: list[str], environment: dict[str, str]) -> bytes:
    terminal, side = pty.openpty()
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    replaying = subprocess.Popen(
        command, stdout=side, stderr=subprocess.DEVNULL, env={**inherited, "TERM": "xterm", **environment}
    )
    os.close(side)
    seen = b""
    try:
        while part := os.read(terminal, 65_536):
            seen += part
    except OSError:
        pass  # the other side is closed
    os.close(terminal)
    assert replaying.wait() == 0
    return seen


def test_a_stream_of_few_characters_gets_no_traceback(trace: Path):
    done = subprocess.run(
        [*COMMAND, str(TOPOLOGY), str(trace)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b"-----" in done.stdout


def interrupted(replaying: "subprocess.Popen[bytes]") -> bytes:
    """What a replay says when Ctrl-C has ended it."""
    replaying.send_signal(signal.SIGINT)
    try:
        _, errors = replaying.communicate(timeout=30)
    finally:
        replaying.kill()
    assert replaying.returncode == 130
    assert b"Traceback" not in errors
    return errors


def test_ctrl_c_ends_with_status_130_and_leaves_no_file(tmp_path: Path):
    """While the replay waits for its trace, which it says by its warnings."""
    topology_path = tmp_path / "topology.yaml"
    topology_path.write_text(WARNED)
    output = tmp_path / "output" / "outcome.json"
    output.parent.mkdir()
    replaying = subprocess.Popen(
        [*COMMAND, str(topology_path), "-", "--format", "json", "-o", str(output)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert replaying.stderr is not None
    assert b"warning" in replaying.stderr.readline()
    assert b"interrupted" in interrupted(replaying)
    assert list(output.parent.iterdir()) == []


def test_ctrl_c_ends_a_replay_that_is_compiling_and_says_what_it_does(tmp_path: Path):
    """In the midst of it: the compiler does not return to Python for many seconds."""
    rows = (f"j{number},QS1,{number},ml.g5.xlarge,1,1" for number in range(COMPILE_FROM))
    trace = tmp_path / "many.csv"
    header = "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds"
    trace.write_text("\n".join([header, *rows]))
    cache, output = tmp_path / "cache", tmp_path / "output" / "outcome.json"
    output.parent.mkdir()
    replaying = subprocess.Popen(
        [*COMMAND, str(TOPOLOGY), str(trace), "--format", "json", "-o", str(output)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "BATCH_QUOTA_CACHE_DIR": str(cache)},
    )
    assert replaying.stderr is not None
    said = replaying.stderr.readline().decode()
    assert said.startswith(f"compiling the replay for this machine, which takes a minute or so; kept in {cache}")
    time.sleep(2)
    assert interrupted(replaying) == b"interrupted\n"
    assert list(output.parent.iterdir()) == []


def test_the_examples_in_the_help_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    help_text = run("--help").stdout.partition("Examples:\n")[2].partition("\n\n")[0]
    commands = re.sub(r" \\\n\s+", " ", help_text).strip().splitlines()
    assert len(commands) == 5
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "batch-quota"
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.stderr


PLAN_TOPOLOGY = ROOT / "examples" / "training-plan.yaml"
PLAN_TRACE = ROOT / "examples" / "traces" / "training-plan.csv"
IN_SECONDS = """\
job_id,share,submitted_at,instance_type,instance_count,runtime_seconds
early,foundation-training,0,ml.p5.48xlarge,4,60
"""


def starts(*arguments: str | Path) -> list[float]:
    done = run(*arguments, "--format", "json")
    return [job["first_scheduled_at"] for job in json.loads(done.stdout)["jobs"]]


def test_a_training_plans_instances_come_at_its_start_and_jobs_that_outlast_it_are_named():
    done = run(PLAN_TOPOLOGY, PLAN_TRACE)
    assert (
        "2026-04-01T11:00:00Z: 1 job holds 4 ml.p5.48xlarge, and 2 are left: "
        "SageMaker ends jobs that lose their instances, the replay does not\n"
    ) in done.stderr
    start, pretraining, *_ = starts(PLAN_TOPOLOGY, PLAN_TRACE)
    assert start == 0
    assert pretraining == 3.5 * 3600  # From 08:00, when the trace starts, to 11:30.


def test_a_trace_in_seconds_says_when_it_starts_for_training_plans(tmp_path: Path):
    trace = tmp_path / "trace.csv"
    trace.write_text(IN_SECONDS)
    done = run(PLAN_TOPOLOGY, trace)
    assert "training plans are taken to last all the time: --starts-at DATE says when the trace starts\n" in done.stderr
    assert starts(PLAN_TOPOLOGY, trace) == [0]
    assert starts(PLAN_TOPOLOGY, trace, "--starts-at", "2026-03-02T11:00:00Z") == [1800]
    assert "training plans are taken" not in run(PLAN_TOPOLOGY, trace, "--starts-at", "2026-03-03").stderr


@pytest.mark.parametrize(
    ("trace", "date", "says"),
    [
        (IN_SECONDS, "soon", "expected a date such as 2026-03-02T11:30:00Z"),
        (PLAN_TRACE.read_text(), "2026-03-02", "the trace has dates of its own"),
    ],
    ids=["no date", "dated already"],
)
def test_a_start_that_cannot_be_is_refused(tmp_path: Path, trace: str, date: str, says: str):
    file = tmp_path / "trace.csv"
    file.write_text(trace)
    done = run(PLAN_TOPOLOGY, file, "--starts-at", date)
    assert done.exit_code == 2
    assert f"Invalid value for --starts-at: {says}" in done.stderr
