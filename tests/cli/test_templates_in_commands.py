"""`batch-quota validate` and `replay` with CloudFormation templates instead of topologies."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from policy_engine.cli import main

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "templates" / "training.yaml"
TRACE = """\
job_id,share,submitted_at,instance_type,instance_count,runtime_seconds
a,search,0,ml.g5.xlarge,1,300
b,research,60,ml.g5.xlarge,1,300
"""


def run(*arguments: object, text: str | None = None) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)), input=text)


def written(folder: Path, **replacements: str) -> Path:
    """The example with some of its texts replaced; underscores stand for spaces."""
    text = EXAMPLE.read_text()
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "template.yaml"
    path.write_text(text)
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.csv"
    path.write_text(TRACE)
    return path


@pytest.fixture
def two_queues(tmp_path: Path) -> Path:
    """A template with the example's queue twice, the second one named `second`."""
    text = EXAMPLE.read_text()
    again = text[text.index("  Policy:\n") :]
    for name in ("Policy", "Environment", "Queue", "Search", "Research"):
        again = re.sub(rf"\b{name}\b(?=[:.\n}}])", f"{name}2", again)
    again = again.replace('!Join ["-", [training, !Ref Stage]]', "second").replace("training-", "second-")
    path = tmp_path / "two.yaml"
    path.write_text(f"{text}\n{again}")
    return path


def test_a_template_is_checked_like_a_topology():
    result = run("validate", EXAMPLE)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "1 template: no findings\n")


def test_findings_are_at_the_lines_of_the_template(tmp_path: Path):
    path = written(tmp_path, **{"MaxCapacity: 4": "MaxCapacity: 0", "Priority: 1": "Priority: 1001"})
    result = run("validate", path)
    assert result.exit_code == 1
    lines = path.read_text().splitlines()
    places = re.findall(r":(\d+):(\d+): error (QM\d+)", result.stdout)
    assert [(lines[int(line) - 1][int(column) - 1 :].strip(), id_) for line, column, id_ in places] == [
        ("1001", "QM110"),
        ("0}", "QM106"),
        ("0}", "QM106"),
    ]


def test_policies_beside_a_queue_are_checked(tmp_path: Path):
    path = tmp_path / "template.yaml"
    statement = "{Effect: Allow, Action: 'batch:*', Resource: 'arn:aws:batch:*:*:job-queue/*'}"
    policy = f"  Mine: {{Type: AWS::IAM::Policy, Properties: {{PolicyDocument: {{Statement: [{statement}]}}}}}}\n"
    path.write_text(EXAMPLE.read_text().replace("Resources:\n", f"Resources:\n{policy}"))
    result = run("validate", path)
    (line,) = (number for number, text in enumerate(path.read_text().splitlines(), start=1) if text + "\n" == policy)
    assert result.stdout.startswith(f"{path}:{line}:{policy.index('arn:aws:batch')}: warning QM601 ")
    assert (result.exit_code, run("validate", "--strict", path).exit_code) == (0, 1)


def test_json_names_the_resource_and_the_property(tmp_path: Path):
    result = run("validate", "--format", "json", written(tmp_path, **{"Priority: 1": "Priority: 1001"}))
    ((finding,),) = (file["findings"] for file in json.loads(result.stdout)["files"])
    assert finding["path"] == ["Resources", "Queue", "Properties", "Priority"]
    assert finding["position"]["line"] > 1


def test_what_only_deployment_decides_ends_with_status_2_and_a_given_parameter_with_0(tmp_path: Path):
    path = written(tmp_path, **{"    Default: 8\n": ""})
    result = run("validate", path)
    assert result.exit_code == 2
    assert "error QM011 'MaxCapacity' is not known before deployment: the parameter 'Instances' has no" in result.stdout
    assert "= help: give it with --parameter Instances=VALUE" in result.stdout
    assert run("validate", path, "--parameter", "Instances=8").exit_code == 0


def test_templates_and_topologies_can_be_checked_at_once(tmp_path: Path):
    result = run("validate", EXAMPLE, ROOT / "examples" / "notebook.yaml", written(tmp_path))
    assert (result.exit_code, result.stderr) == (0, "1 topology, 2 templates: no findings\n")


def test_a_template_without_a_queue_has_nothing_to_check():
    result = run("validate", "-", text="Resources: {B: {Type: AWS::S3::Bucket}}\n")
    assert (result.exit_code, result.stderr) == (0, "1 template: 1 info\n")
    assert result.stdout.startswith("<stdin>:1:1: info QM014 the template has no quota-managed queue")


def test_the_names_of_resources_are_judged_and_not_what_a_topology_would_make_of_them(tmp_path: Path):
    long = "q" * 128
    assert run("validate", written(tmp_path, **{'!Join ["-", [training, !Ref Stage]]': long})).exit_code == 0
    result = run("validate", written(tmp_path, **{'!Join ["-", [training, !Ref Stage]]': f"{long}q"}))
    assert (result.exit_code, "error QM003" in result.stdout) == (2, True)


def test_a_trace_is_replayed_on_a_template(trace: Path):
    result = run("replay", EXAMPLE, trace, "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert [job["status"] for job in json.loads(result.stdout)["jobs"]] == ["SUCCEEDED", "SUCCEEDED"]


def test_which_of_several_queues_is_replayed_has_to_be_said(two_queues: Path, trace: Path):
    result = run("replay", two_queues, trace)
    assert result.exit_code == 2
    assert "error QM014 there are 2 queues" in result.stderr
    assert "name one with --queue: training-production, second" in result.stderr
    assert run("replay", two_queues, trace, "--queue", "second").exit_code == 0
    assert "there is no queue 'third'" in run("replay", two_queues, trace, "--queue", "third").stderr


def test_a_template_that_cannot_be_read_is_not_replayed(tmp_path: Path, trace: Path):
    result = run("replay", written(tmp_path, **{"    Default: 8\n": ""}), trace)
    assert (result.exit_code, "QM011" in result.stderr, result.stdout) == (2, True, "")
    nothing = tmp_path / "nothing.json"
    nothing.write_text('{"Resources": {}}')
    assert "error QM014 there is no queue" in run("replay", nothing, trace).stderr


def test_the_queue_of_a_topology_goes_by_its_name(trace: Path):
    topology = ROOT / "examples" / "notebook.yaml"
    result = run("replay", topology, trace, "--queue", "other")
    assert (result.exit_code, "name one with --queue: notebook-queue" in result.stderr) == (2, True)
