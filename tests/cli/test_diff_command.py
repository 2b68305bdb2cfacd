"""`batch-quota diff`: topologies and templates compared, what is printed, and the exit status."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli import main

ROOT = Path(__file__).parents[2]
NOW, NEXT = ROOT / "examples" / "changes" / "now.yaml", ROOT / "examples" / "changes" / "next.yaml"
TEMPLATE = ROOT / "examples" / "templates" / "training.yaml"


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(main, ["diff", *map(str, arguments)], input=text)


def changed(folder: Path, source: Path, **replacements: str) -> Path:
    text = source.read_text()
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / f"changed-{source.name}"
    path.write_text(text)
    return path


def findings(result: Result) -> list[str]:
    return re.findall(r"(?:error|warning|info) (QM\d+)", result.stdout)


def test_what_changes_is_listed_in_order_with_its_effect_on_jobs_and_then_what_is_dangerous():
    result = run(NOW, NEXT)
    assert result.exit_code == 1
    listed, _, told = result.stdout.partition("\n\n")
    assert listed.splitlines() == [
        "queue training-queue: 2 to change, 1 to remove, in this order",
        "  change   service environment training-service-environment",
        "             capacity ml.g5.xlarge: 16 -> 12",
        "             jobs: running jobs go on, even above the new capacity; only new",
        "               dispatches keep to it",
        "  change   quota share search",
        "             capacity ml.g5.xlarge: 8 -> 6",
        "             jobs: jobs above the new limit can be preempted, also in LEND and",
        "               RESERVE shares; AWS does not say when",
        "  remove   quota share research-old",
        "             jobs: all its jobs are terminated, running and waiting",
    ]
    places = re.findall(r"^(\S+?):(\d+):\d+: (\w+ QM\d+)", told, re.MULTILINE)
    assert [(Path(file).name, finding) for file, _, finding in places] == [
        ("now.yaml", "error QM401"),
        ("next.yaml", "warning QM407"),
        ("next.yaml", "warning QM412"),
        ("next.yaml", "warning QM413"),
    ]
    assert result.stderr == "3 resources change, 4 dangers\n"


def test_nothing_that_changes_is_clean():
    result = run(NOW, NOW)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "no resource of quota management changes\n")


def test_a_change_that_does_no_harm_is_clean(tmp_path: Path):
    result = run(NOW, changed(tmp_path, NOW, **{"ml.g5.xlarge: 16}": "ml.g5.xlarge: 20}"}))
    assert (result.exit_code, findings(result)) == (0, [])
    assert result.stderr == "1 resource changes, nothing dangerous\n"


@pytest.mark.parametrize(
    ("accepted", "left", "status"),
    [
        (["QM401"], 3, 1),
        (["QM401@research-old"], 3, 1),
        (["qm401@research-old", "QM407", "QM412", "QM413"], 0, 0),
        (["QM401@search"], 4, 1),
    ],
)
def test_a_danger_that_is_accepted_is_printed_and_does_not_count(accepted: list[str], left: int, status: int):
    result = run(NOW, NEXT, *(option for id_ in accepted for option in ("--accept", id_)))
    assert (result.exit_code, len(findings(result))) == (status, 4)
    assert result.stdout.count("= accepted for") == 4 - left
    dangers = {0: "nothing dangerous", 3: "3 dangers", 4: "4 dangers"}[left]
    assert f"3 resources change, {dangers}" in result.stderr


@pytest.mark.parametrize("accepted", ["QM101", "QM499", "x", ""])
def test_what_is_no_rule_about_changes_cannot_be_accepted(accepted: str):
    result = run(NOW, NEXT, "--accept", accepted)
    assert (result.exit_code, "is no rule about changes" in result.stderr) == (2, True)


def test_json_has_resources_findings_and_the_verdict():
    result = run(NOW, NEXT, "--format", "json", "--accept", "QM401")
    document = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (document["version"], document["dangerous"]) == (1, True)
    (queue,) = document["queues"]
    assert [(each["action"], each["type"], each["name"]) for each in queue["resources"]] == [
        ("update", "AWS::Batch::ServiceEnvironment", "training-service-environment"),
        ("update", "AWS::Batch::QuotaShare", "search"),
        ("remove", "AWS::Batch::QuotaShare", "research-old"),
    ]
    assert queue["resources"][0]["settings"] == [{"setting": "capacity ml.g5.xlarge", "old": 16, "new": 12}]
    assert queue["resources"][2]["effect_on_jobs"] == "all its jobs are terminated, running and waiting"
    assert [(each["id"], each["resource"], each["accepted"]) for each in document["findings"]] == [
        ("QM401", "research-old", True),
        ("QM407", "search", False),
        ("QM412", "training-service-environment", False),
        ("QM413", "training-service-environment", False),
    ]
    assert json.loads(run(NOW, NOW, "--format", "json").stdout) == {
        "version": 1,
        "queues": [],
        "findings": [],
        "dangerous": False,
    }


def test_two_templates_are_compared_and_findings_are_in_the_template(tmp_path: Path):
    after = changed(tmp_path, TEMPLATE, **{"MaxCapacity: 4": "MaxCapacity: 2"})
    result = run("--format", "json", TEMPLATE, after)
    document = json.loads(result.stdout)
    assert [each["id"] for each in document["findings"]] == ["QM407", "QM407"]
    assert document["findings"][0]["path"][:3] == ["Resources", "Research", "Properties"]
    assert {each["logical_id"] for each in document["queues"][0]["resources"]} == {"Search", "Research"}


def test_a_deployed_template_is_compared_with_a_topology(tmp_path: Path):
    topology = tmp_path / "topology.yaml"
    topology.write_text(
        """
name: training
capacity: {ml.g5.xlarge: 8}
queue:
  time_limits:
    - {reason: "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", after: 1h}
    - {reason: "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", after: 1h}
teams:
  search: {shares: {search: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}}}
"""
    )
    named = {
        "ServiceEnvironmentName: !Sub training-${Stage}": "ServiceEnvironmentName: training-service-environment",
        'JobQueueName: !Join ["-", [training, !Ref Stage]]': "JobQueueName: training-queue",
    }
    deployed = changed(tmp_path, TEMPLATE, **named)
    deployed.write_text(
        deployed.read_text().replace(" Name: !Sub training-${Stage}", " Name: training-scheduling-policy")
    )
    result = run(deployed, topology, "--format", "json")
    document = json.loads(result.stdout)
    resources = document["queues"][0]["resources"]
    assert [(each["action"], each["name"]) for each in resources] == [("remove", "research")]
    assert [each["id"] for each in document["findings"]] == ["QM401"]


def test_parameters_are_those_of_both_templates():
    assert run(TEMPLATE, TEMPLATE, "--parameter", "Stage=test").exit_code == 0


def test_of_several_queues_one_can_be_chosen(tmp_path: Path):
    text = TEMPLATE.read_text()
    again = text[text.index("  Policy:\n") :]
    for name in ("Policy", "Environment", "Queue", "Search", "Research"):
        again = re.sub(rf"\b{name}\b(?=[:.\n}}])", f"{name}2", again)
    again = again.replace('!Join ["-", [training, !Ref Stage]]', "second").replace("training-", "second-")
    two = tmp_path / "two.yaml"
    two.write_text(f"{text}\n{again}")
    assert "queue second: 5 to add" in run(TEMPLATE, two).stdout
    assert run(TEMPLATE, two, "--queue", "training-production").stderr == "no resource of quota management changes\n"
    removed = run(two, TEMPLATE)
    assert findings(removed) == ["QM404"]
    unknown = run(TEMPLATE, two, "--queue", "third")
    assert (unknown.exit_code, "there is no queue 'third'" in unknown.stderr) == (2, True)
    unclear = run(two, NOW)
    assert (unclear.exit_code, "name one with --queue: training-production, second" in unclear.stderr) == (2, True)


@pytest.mark.parametrize("broken", ["missing.yaml", "unreadable.yaml", "unknown.yaml"])
def test_an_input_that_cannot_be_used_ends_with_status_2_and_nothing_on_standard_output(tmp_path: Path, broken: str):
    (tmp_path / "unreadable.yaml").write_text("name: [\n")
    changed(tmp_path, TEMPLATE, **{"    Default: 8\n": ""}).rename(tmp_path / "unknown.yaml")
    for pair in ((NOW, tmp_path / broken), (tmp_path / broken, NOW)):
        result = run(*pair)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "error QM0" in result.stderr


def test_one_side_can_be_standard_input():
    assert run("-", NOW, text=NOW.read_text()).exit_code == 0
    assert run("-", "-", text="").exit_code == 2


def test_nothing_printed_is_wider_than_80_columns_but_messages(tmp_path: Path):
    long = "n" * 100
    result = run(NOW, changed(tmp_path, NOW, **{"name: training": f"name: {long}"}))
    listed = result.stdout.partition("\n\n")[0]
    assert max(len(line) for line in listed.splitlines() if not line.startswith("queue ")) <= 80
    assert all(len(line) <= 80 for line in run("--help").stdout.splitlines())


def test_the_examples_of_the_help_run_as_printed():
    text = run("--help").stdout.replace("\\\n", " ")
    examples = re.findall(r"^  +(batch-quota diff .*)$", text, re.MULTILINE)
    assert len(examples) == 2
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for example in examples:
        done = subprocess.run(
            shlex.split(example), cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, "3 resources change" in done.stderr) == (1, True)


def test_comparing_imports_nothing_heavy():
    heavy = {"numpy", "polars", "numba", "boto3", "botocore", "aws_cdk", "jsii", "moto", "rich"}
    program = f"""
import sys
from click.testing import CliRunner
from policy_engine.cli import main
assert CliRunner().invoke(main, ["diff", {str(NOW)!r}, {str(NEXT)!r}]).exit_code == 1
print(sorted({heavy!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
