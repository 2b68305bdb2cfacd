"""`batch-quota trace` as a user runs it: what goes where, exit statuses, and the examples as they are printed."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli.trace import command
from policy_engine.topology import read_topology
from policy_engine.trace import read_events, read_trace

ROOT = Path(__file__).parents[2]
TOPOLOGY = str(ROOT / "examples" / "ml-training.yaml")
TRACE = str(ROOT / "examples" / "traces" / "ml-training.csv")
EXPORT = str(ROOT / "examples" / "traces" / "accounting-export.csv")
PHILLY = "job_id,submit_s,duration_s,gpus,team\na,5,60,8,t\nb,0,60,1,u\n"


def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(command, arguments, input=stdin)


def test_convert_writes_the_trace_to_standard_output_and_the_rest_to_standard_error() -> None:
    result = run("convert", "--from", "philly", "-", stdin=PHILLY)
    assert result.exit_code == 0
    assert result.stdout == (
        "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds\n"
        "b,u,0,ml.g5.xlarge,1,60\na,t,5,ml.g5.48xlarge,1,60\n"
    )
    assert result.stderr == "2 jobs of 2 shares\n"


def test_convert_takes_mappings_as_options() -> None:
    options = ["--gpus", "1=ml.a", "--gpus", "4=ml.b", "--share-of", "t=s", "--share-of", "*=rest", "--to", "jsonl"]
    result = run("convert", "--from", "philly", "-", *options, stdin=PHILLY)
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["share"], row["instance_type"], row["instance_count"]) for row in rows] == [
        ("rest", "ml.a", 1),
        ("s", "ml.b", 2),
    ]


def test_convert_says_what_it_leaves_out() -> None:
    text = "job_id,user,num_gpu,submit_time,duration,job_type\na,u,0,1,1,soft\nb,u,1,1,1,soft\n"
    result = run("convert", "--from", "philly-mix2", "-", "--priority-of", "soft=7", stdin=text)
    assert "1 of 2 rows are left out: jobs that need no GPU" in result.stderr
    assert result.stdout.splitlines()[1] == "b,u,60,ml.g5.xlarge,1,60,7"


def test_convert_writes_nothing_if_a_row_is_bad(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    result = run("convert", "--from", "philly", "-", "-o", str(out), stdin=PHILLY.replace("60,8", "x,8"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("<stdin>:2:5: error TR017 runtime_seconds: expected a number of seconds")
    assert list(tmp_path.iterdir()) == []


def test_convert_overwrites_only_with_force(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    arguments = ("convert", "--from", "philly", "-", "-o", str(out))
    assert run(*arguments, stdin=PHILLY).exit_code == 0
    again = run(*arguments, stdin=PHILLY)
    assert (again.exit_code, again.stderr) == (2, f"error: {out} exists already; --force overwrites it\n")
    assert run(*arguments, "--force", stdin=PHILLY).exit_code == 0
    assert len(read_trace(out)) == 2
    nowhere = run("convert", "--from", "philly", "-", "-o", str(tmp_path / "no" / "where.csv"), stdin=PHILLY)
    assert nowhere.exit_code == 2
    assert "No such file or directory" in nowhere.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--from", "surf", "--gpus", "1=ml.a"], "--gpus means nothing for --from surf"),
        (["--from", "philly", "--map", "job_id=id"], "--map means nothing for --from philly"),
        (["--from", "philly", "--gpus", "ml.a"], "expected N=TYPE, not 'ml.a'"),
        (["--from", "philly", "--gpus", "0=ml.a"], "expected a whole number from 1 to 1000000, not '0'"),
        (["--from", "philly", "--gpus", "1=a", "--gpus", "1=b"], "1 is given twice"),
        (["--from", "openb", "--priority-of", "LS=high"], "expected a whole number from 0 to 9999, not 'high'"),
        (["--from", "slurm"], "'slurm' is not one of"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: list[str], message: str) -> None:
    result = run("convert", "absent.csv", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("searchprod:load=1", "the topology has no share 'searchprod'; did you mean 'search-prod'?"),
        ("search-prod:laod=1", "a share has no setting 'laod'; did you mean 'load'?"),
        ("search-prod:load=-1", "load: expected a number from 0 to 100, not '-1'"),
        ("search-prod:load=nan", "load: expected a number from 0 to 100, not 'nan'"),
        ("search-prod:size=1|0", "size: expected a whole number from 1 to 1000000, not '0'"),
        ("search-prod:size=1:0", "size: expected a whole number from 1 to 1000000, not '0'"),
        ("search-prod:median=0s", "median: expected at least 1s, not '0s'"),
        ("search-prod:median=soon", "median: expected a duration"),
        ("search-prod", "expected SHARE:KEY=VALUE"),
        ("*:load=0", "the loads make no jobs"),
        ("*:load=100,median=1s,sigma=0", "at most 100,000,000 are possible"),
    ],
)
def test_generate_refuses_settings_that_make_no_sense(settings: str, message: str) -> None:
    result = run("generate", TOPOLOGY, "--days", "3000", "--share", settings)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_generate_reads_every_setting_of_a_share() -> None:
    settings = "load=2,median=1h,sigma=0,longest=1h,size=2,priority=7,retries=3,checkpoint=90s,fails=1"
    result = run("generate", TOPOLOGY, "--jobs", "50", "--share", "*:load=0", "--share", f"search-prod:{settings}")
    lines = result.stdout.splitlines()
    assert lines[0].endswith("runtime_seconds,priority,preemption_retries,checkpoint,fails")
    assert {line.split(",", 3)[3] for line in lines[1:]} == {"ml.g5.48xlarge,2,3600,7,3,90,true"}
    assert len(lines) == 51


def test_generate_samples_runtimes_from_a_trace(tmp_path: Path) -> None:
    text = run(
        "convert", "--from", "philly", "-", stdin=PHILLY.replace("60,8", "1234,8").replace("60,1", "1234,1")
    ).stdout
    (tmp_path / "t.csv").write_text(text)
    result = run("generate", TOPOLOGY, "--jobs", "20", "--runtimes-from", str(tmp_path / "t.csv"))
    assert {line.split(",")[5] for line in result.stdout.splitlines()[1:]} == {"1234"}


def test_describe_fits_eighty_columns_and_names_what_the_topology_lacks() -> None:
    result = run("describe", TRACE, "--topology", TOPOLOGY)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(re.match(r"search-prod +36 .* 15%$", line) for line in lines)
    assert any(re.match(r"ml.g5.xlarge +[▁▂▃▄▅▆▇█]{49} +[\d.]+$", line) for line in lines)
    stranger = run(
        "describe", "-", "--topology", TOPOLOGY, stdin=run("convert", "--from", "philly", "-", stdin=PHILLY).stdout
    )
    assert "not in the topology: u, t" in stranger.stdout


def test_describe_shows_hostile_names_harmlessly() -> None:
    text = (
        "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds\na,[red]\x1b[31m"
        + "x" * 200
        + ",0,ml.x,1,1\n"
    )
    result = run("describe", "-", stdin=text)
    assert "[red]\ufffd[31m" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_describe_prints_json_for_programs() -> None:
    data = json.loads(run("describe", TRACE, "--topology", TOPOLOGY, "--format", "json").stdout)
    assert (data["version"], data["jobs"], len(data["shares"]), len(data["units"])) == (1, 1033, 7, 3)
    unit = data["units"][0]
    assert unit["load"] == pytest.approx(unit["demand"]["mean"] / unit["capacity"])
    assert sum(share["jobs"] for share in data["shares"]) == 1033


def test_an_unusable_trace_or_topology_is_exit_status_2() -> None:
    for arguments in (
        ["describe", "absent.csv"],
        ["describe", TRACE, "--topology", TRACE],
        ["generate", "absent.yaml"],
    ):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr


def _readme_commands() -> list[list[str]]:
    text = (ROOT / "examples" / "traces" / "README.md").read_text()
    return [shlex.split(block.replace("\\\n", "")) for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)]


def test_the_example_traces_are_what_their_readme_s_commands_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    *generated, convert = _readme_commands()
    out = tmp_path / "again.csv"
    for generate in generated:
        shown = Path(generate[generate.index("-o") + 1])
        generate[generate.index("-o") + 1] = str(out)
        assert run(*generate[2:]).exit_code == 0
        assert out.read_bytes() == shown.read_bytes()
    assert len(generated) == 2
    converted = run(*convert[2:])
    assert (converted.exit_code, len(converted.stdout.splitlines())) == (0, 9)


def test_the_example_events_fit_the_example_trace_and_topology() -> None:
    topology = read_topology(TOPOLOGY).topology
    shares = {owned.name for owned in topology.quota_shares()}
    trace = read_trace(TRACE, shares=shares)
    events = read_events(ROOT / "examples" / "traces" / "ml-training-events.csv", trace=trace, topology=topology)
    assert [event.event for event in events] == [
        "update_priority",
        "unavailable",
        "update_share",
        "update_capacity",
        "update_capacity",
        "terminate",
    ]


@pytest.mark.parametrize("subcommand", ["convert", "generate", "describe"])
def test_the_examples_of_the_help_run_as_printed(
    subcommand: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = run(subcommand, "--help").stdout
    assert max(map(len, shown.splitlines())) <= 80
    examples = shown.split("Examples:\n")[1].split("\n\n")[0].replace("\\\n", "")
    for line in re.findall(r"batch-quota trace (.*)", examples):
        arguments = [str(ROOT / part) if part.startswith("examples/") else part for part in shlex.split(line)]
        if "philly.csv" in arguments:
            (tmp_path / "philly.csv").write_text(PHILLY)
        if "--jobs" in arguments:
            arguments[arguments.index("--jobs") + 1] = "1000"
        done = run(*arguments)
        assert (line, done.exit_code) == (line, 0), done.output


def test_every_finding_is_documented() -> None:
    source = "\n".join(path.read_text() for path in (ROOT / "policy_engine" / "trace").rglob("*.py"))
    documented = set(re.findall(r"^\| (TR\d{3}) ", (ROOT / "docs" / "traces.md").read_text(), re.MULTILINE))
    assert documented == set(re.findall(r"\bTR\d{3}\b", source))
