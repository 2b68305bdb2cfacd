"""`batch-quota compare`: from topologies and a trace to what differs."""

import json
import re
import shlex
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from policy_engine.cli import main

ROOT = Path(__file__).parents[2]
NOW, NEXT = ROOT / "examples" / "changes" / "now.yaml", ROOT / "examples" / "changes" / "next.yaml"
TRACE = ROOT / "examples" / "traces" / "training.csv"
PRICES = ROOT / "examples" / "prices" / "made-up.yaml"
SCHEMA = json.loads(files("policy_engine.report").joinpath("comparison.schema.json").read_text(encoding="utf-8"))
SMALL = """\
job_id,share,submitted_at,instance_type,instance_count,runtime_seconds
s1,search,0,ml.g5.xlarge,8,600
r1,research,0,ml.g5.xlarge,8,600
o1,research-old,0,ml.g5.xlarge,2,600
"""
EVENTS = """\
at,event,share,state,unit,capacity
0,set_share_state,research-old,ENABLED,,
60,update_capacity,,,ml.g5.xlarge,4
"""


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["compare", *map(str, arguments)], input=text)


def document(result: Result) -> dict[str, object]:
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)
    Draft202012Validator(SCHEMA).validate(found)
    return found


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    path.write_text(SMALL)
    return path


def topology(folder: Path, source: Path = NOW, more: str = "", **replacements: str) -> Path:
    text = source.read_text()
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / f"changed-{source.name}"
    path.write_text(f"{text}\n{more}\n")
    return path


# What it prints


def test_the_table_has_what_differs_figures_of_both_and_who_gains_and_loses():
    result = run(NOW, NEXT, TRACE)
    assert result.exit_code == 0
    text = result.stdout
    assert text.startswith("now.yaml -> next.yaml: 420 jobs replayed on each\n")
    assert "  quota share search: capacity ml.g5.xlarge 8 -> 6\n" in text
    assert re.search(r"^wait p95 +1h56m +4h14m +\+2h19m$", text, re.MULTILINE)
    assert re.search(r"^research +210 +0 +149 +\+1h00m", text, re.MULTILINE)
    assert re.search(r"^research-085 +research +3h02m later", text, re.MULTILINE)
    assert "Only now.yaml has research-old." in text
    assert max(map(len, text.splitlines())) <= 80


def test_prices_add_money(tmp_path: Path):
    without, priced = run(NOW, NEXT, TRACE), run(NOW, NEXT, TRACE, "--prices", PRICES)
    assert not re.search(r"^cost ", without.stdout, re.MULTILINE)
    assert re.search(r"^cost +628 +633 +\+4\.6$", priced.stdout, re.MULTILINE)
    assert "Costs are in USD, at prices of 2026-11-30 in us-east-1." in priced.stdout


def test_instance_types_without_a_price_are_told(tmp_path: Path):
    prices = tmp_path / "prices.yaml"
    prices.write_text(PRICES.read_text().replace("ml.g5.xlarge", "ml.g5.2xlarge"))
    result = run(NOW, NEXT, TRACE, "--prices", prices)
    assert f"{prices} has no price of ml.g5.xlarge: what they cost is not known" in result.stderr


def test_json_has_every_figure_of_every_name():
    found = document(run(NOW, NEXT, TRACE, "--format", "json", "--jobs", 3))
    (comparison,) = found["comparisons"]
    assert [len(comparison[name]) for name in ("gain_most", "lose_most")] == [1, 3]
    assert {share["share"] for share in comparison["shares"]} == {"search", "research", "research-old"}
    (capacity,) = [each for each in comparison["queue"] if each["metric"] == "wait_p95"]
    assert capacity["difference"] == pytest.approx(capacity["proposed"] - capacity["current"])
    assert comparison["changes"][0]["name"] == "training-queue"
    assert comparison["jobs"] == {"gains": 1, "loses": 292, "same": 127}


def test_markdown_can_be_pasted_into_a_pull_request():
    text = run(NOW, NEXT, TRACE, "--format", "markdown").stdout
    assert text.startswith("## now.yaml → next.yaml\n")
    assert "| wait p95 | 1h56m | 4h14m | +2h19m |" in text
    assert text.count("<details>") == text.count("</details>") == 3


def test_several_proposals_are_each_compared_with_the_first(tmp_path: Path):
    third = topology(tmp_path, NEXT, **{"{ml.g5.xlarge: 12}": "{ml.g5.xlarge: 20}"})
    result = run(NOW, NEXT, third, TRACE)
    assert result.exit_code == 0
    assert "The queue in each" in result.stdout
    assert [line for line in result.stdout.splitlines() if line.startswith("==")] == [
        "== now.yaml -> next.yaml ==",
        "== now.yaml -> changed-next.yaml ==",
    ]


def test_one_topology_is_compared_with_itself_under_other_assumptions(small: Path):
    result = run(NOW, small, "--under", "stop_seconds=5m,startup_seconds=1m", "--under", "head_of_line=none")
    assert "assumption stop_seconds: 2m -> 5m" in result.stdout
    assert "assumption startup_seconds: 0s -> 1m" in result.stdout
    assert "assumption head_of_line: strict -> none" in result.stdout


def test_assumptions_of_all_topologies_are_set_together(small: Path):
    found = document(run(NOW, NEXT, small, "--assume", "stop_seconds=7", "--format", "json"))
    sides = [found["current"], found["comparisons"][0]["proposed"]]
    assert [side["assumptions"]["stop_seconds"] for side in sides] == [7, 7]


# What cannot be submitted


def test_jobs_of_a_share_that_is_gone_are_left_out_and_told(small: Path):
    result = run(NOW, NEXT, small)
    told = "1 job of research-old is left out on next.yaml, which has no such share"
    assert told in result.stderr
    assert told in result.stdout
    found = document(run(NOW, NEXT, small, "--format", "json"))
    assert found["comparisons"][0]["proposed"]["left_out"] == {"research-old": 1}


def test_jobs_can_be_moved_to_another_share(small: Path):
    result = run(NOW, NEXT, small, "--move", "research-old=research")
    assert "left out" not in result.stdout + result.stderr


def test_a_share_that_no_topology_has_is_a_bad_row_of_the_trace(small: Path):
    small.write_text(SMALL.replace("o1,research-old", "o1,reserch"))
    result = run(NOW, NEXT, small)
    assert result.exit_code == 2
    assert "small.csv:4:4" in result.stderr
    assert "did you mean 'research'" in result.stderr


def test_events_may_name_what_only_one_topology_has(small: Path, tmp_path: Path):
    events = tmp_path / "events.csv"
    events.write_text(EVENTS)
    assert run(NOW, NEXT, small, "--events", events).exit_code == 0
    events.write_text(EVENTS.replace("research-old", "nobody"))
    result = run(NOW, NEXT, small, "--events", events)
    assert (result.exit_code, "the topology has no share" in result.stderr) == (2, True)


# Training plans


def test_training_plans_come_and_go_as_in_a_replay_and_what_that_means_is_told(tmp_path: Path):
    plan, trace = ROOT / "examples" / "training-plan.yaml", ROOT / "examples" / "traces" / "training-plan.csv"
    longer = topology(tmp_path, plan, **{"2026-04-01T11:30:00Z": "2026-05-01T11:30:00Z"})
    result = run(plan, longer, trace)
    ended = "1 job holds 4 ml.p5.48xlarge, and 2 are left"
    assert f"training-plan.yaml: 2026-04-01T11:00:00Z: {ended}" in result.stderr
    assert result.stderr.count(ended) == 1
    alone = CliRunner().invoke(main, ["replay", str(longer), str(trace), "--format", "json"])
    utilization = {
        each["metric"]: each
        for each in document(run(plan, longer, trace, "--format", "json"))["comparisons"][0]["queue"]
    }["utilization"]
    assert utilization["proposed"] == pytest.approx(100 * json.loads(alone.stdout)["queue"]["utilization"], abs=1e-3)


def test_plans_of_any_topology_need_the_date_of_the_traces_start(tmp_path: Path):
    plan = ROOT / "examples" / "training-plan.yaml"
    text = plan.read_text()
    capacity = text[text.index("    - 2\n") : text.index("queue:")]
    accepted = text[text.index("suppressions:") :]
    without = topology(tmp_path, plan, **{capacity: "    6\n", accepted: ""})
    trace = tmp_path / "trace.csv"
    trace.write_text(
        "job_id,share,submitted_at,instance_type,instance_count,runtime_seconds\nj,search-training,0,ml.p5.48xlarge,1,60\n"
    )
    for pair in ((plan, without), (without, plan)):
        result = run(*pair, trace)
        assert result.exit_code == 0, result.stderr
        assert "training plans are taken to last all the time" in result.stderr


# Gates


def test_an_expectation_of_what_is_proposed_is_judged_against_what_is_there(tmp_path: Path):
    strict = topology(tmp_path, NEXT, 'expectations: {search: {wait_p95: "<= baseline * 1.2"}}')
    result = run(NOW, strict, TRACE)
    assert result.exit_code == 1
    assert "1 expectation of changed-next.yaml: 1 broken" in result.stdout
    assert "search wait_p95: 80 of 210 jobs waited longer; search-186 waited 1h33m" in result.stdout
    loose = topology(tmp_path, NEXT, 'expectations: {search: {wait_p95: "<= baseline * 12"}}')
    assert run(NOW, loose, TRACE).exit_code == 0


def test_expectations_of_what_is_there_are_no_gate(tmp_path: Path):
    strict = topology(tmp_path, NOW, "expectations: {queue: {wait_max: 0}}")
    assert run(strict, NEXT, TRACE).exit_code == 0


def test_a_malformed_expectation_is_an_error_of_reading_with_its_place(tmp_path: Path):
    broken = topology(tmp_path, NEXT, 'expectations: {search: {wait_p95: "<= baseline times 2"}}')
    result = run(NOW, broken, TRACE)
    assert result.exit_code == 2
    lines = broken.read_text().splitlines()
    row = next(number for number, line in enumerate(lines, 1) if "baseline" in line)
    assert f"changed-next.yaml:{row}:{lines[row - 1].index('wait_p95: ') + 11}: error QM003" in result.stderr
    assert "expected a bound such as '<= baseline', '<= baseline * 1.1' or '<= baseline + 1m'" in " ".join(
        result.stderr.split()
    )


def test_a_topology_with_an_error_is_not_replayed(tmp_path: Path, small: Path):
    wrong = topology(tmp_path, NOW, **{"strategy: LEND}": "strategy: LEND, borrow_limit: 5}"})
    result = run(NOW, wrong, small)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "not replayed" in result.stderr


# Templates


def test_templates_are_compared(tmp_path: Path):
    template = ROOT / "examples" / "templates" / "training.yaml"
    larger = tmp_path / "larger.yaml"
    larger.write_text(template.read_text().replace("MaxCapacity: 4", "MaxCapacity: 3"))
    trace = tmp_path / "trace.csv"
    trace.write_text("\n".join(line for line in SMALL.replace(",8,", ",4,").splitlines() if "o1" not in line))
    comparison = document(run(template, larger, trace, "--format", "json"))["comparisons"][0]
    settings = [each["settings"] for each in comparison["changes"][0]["resources"]]
    assert settings == [[{"setting": "capacity ml.g5.xlarge", "old": 4, "new": 3}]] * 2


def test_a_template_is_compared_with_a_topology(tmp_path: Path):
    trace = tmp_path / "trace.csv"
    trace.write_text("\n".join(line for line in SMALL.replace(",8,", ",4,").splitlines() if "o1" not in line))
    result = run(ROOT / "examples" / "templates" / "training.yaml", NEXT, trace)
    assert result.exit_code == 0
    assert "quota share search: capacity ml.g5.xlarge 4 -> 6" in result.stdout


# Usage


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([NOW, TRACE], "there is nothing to compare with"),
        ([NOW, NEXT, TRACE, "--under", "stop_seconds=1"], "--under compares a single topology with itself"),
        (["-", "-", TRACE], "only one input can be standard input"),
        ([NOW, NEXT, TRACE, "--move", "research-old=serch"], "did you mean 'search'?"),
        ([NOW, NEXT, TRACE, "--move", "research-old"], "expected SHARE=OTHER"),
        ([NOW, TRACE, "--under", "stop_second=1"], "did you mean 'stop_seconds'?"),
        ([NOW, NEXT, ROOT / "none.csv"], "none.csv"),
        ([NOW, ROOT / "none.yaml", TRACE], "there is no such file"),
        ([NOW, NEXT, TRACE, "--prices", TRACE], "QM"),
    ],
)
def test_what_makes_no_sense_ends_with_status_2(arguments: list[object], message: str):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in " ".join(result.stderr.split())


def test_the_output_is_a_file_that_is_not_overwritten(tmp_path: Path, small: Path):
    output = tmp_path / "comparison.md"
    assert run(NOW, NEXT, small, "--format", "markdown", "-o", output).exit_code == 0
    text = output.read_text()
    assert text.startswith("## now.yaml")
    again = run(NOW, NEXT, small, "-o", output)
    assert (again.exit_code, "--force overwrites it" in again.stderr) == (2, True)
    assert output.read_text() == text
    assert run(NOW, NEXT, small, "-o", output, "--force").exit_code == 0
    assert output.read_text() != text


def test_a_topology_comes_through_a_pipe(small: Path):
    assert run("-", NEXT, small, text=NOW.read_text()).stdout.startswith("<stdin> -> next.yaml")


def test_the_same_file_twice_is_told_apart(small: Path):
    assert run(NOW, NOW, small).stdout.startswith(f"{NOW} (1) -> {NOW} (2)".split("/", 1)[0])


def test_the_examples_in_the_help_run_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    printed = run("--help").stdout
    examples = printed.partition("Examples:")[2].partition("Options:")[0].replace("\\\n", " ")
    lines = [line.strip() for line in examples.splitlines() if line.strip()]
    assert len(lines) == 3
    for line in lines:
        name, *arguments = shlex.split(line)
        assert name == "batch-quota"
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == 0, result.stderr
    assert (tmp_path / "comparison.md").read_text().startswith("## now.yaml")
