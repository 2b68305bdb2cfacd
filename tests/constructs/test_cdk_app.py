"""app.py and cdk.json: what `cdk synth` makes of topology files, and which Node it runs on."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App
from click.testing import CliRunner

import app as cdk_app
from policy_engine.cli import main as batch_quota
from policy_engine.topology import Topology

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = CHECKOUT / "examples"
TOPOLOGY = """
name: {name}
capacity: {{ml.g5.xlarge: 4}}
teams:
  search:
    shares:
      search-prod: {{capacity: {{ml.g5.xlarge: {instances}}}, strategy: {strategy}}}
"""


@pytest.fixture
def topology_file(tmp_path: Path) -> Callable[..., str]:
    def write(file: str, *, name: str = "training", instances: int = 4, strategy: str = "RESERVE") -> str:
        path = tmp_path / file
        path.write_text(TOPOLOGY.format(name=name, instances=instances, strategy=strategy))
        return str(path)

    return write


@pytest.fixture
def synth(tmp_path: Path) -> Callable[..., int]:
    """What app.py does with a context; its exit status."""

    def run(**context: object) -> int:
        app = App(context=context, outdir=str(tmp_path / "cdk.out"), builtin_cloud_formation_validation=False)
        return cdk_app.synthesize(app)

    return run


def test_every_topology_of_the_context_becomes_a_stack(
    synth: Callable[..., int], topology_file: Callable[..., str], tmp_path: Path
):
    first, second = topology_file("a.yaml", name="first"), topology_file("b.yaml", name="second_one")
    assert synth(topologies=[first, second]) == 0
    assert sorted(path.name for path in tmp_path.glob("cdk.out/*.template.json")) == [
        "first.template.json",
        "second-one.template.json",
    ]


def test_topologies_of_the_command_line_replace_those_of_cdk_json(
    synth: Callable[..., int], topology_file: Callable[..., str], tmp_path: Path
):
    given = f"{topology_file('a.yaml', name='first')}, {topology_file('b.yaml', name='second')}"
    assert synth(topologies=["examples/ml-training.yaml"], topology=given) == 0
    assert sorted(path.name for path in tmp_path.glob("cdk.out/*.template.json")) == [
        "first.template.json",
        "second.template.json",
    ]


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ({"invalid.yaml": {"instances": 0}}, 1),
        ({"unreadable.yaml": {"strategy": "LEND_BORROW"}}, 2),
        ({"fine.yaml": {}, "invalid.yaml": {"instances": 5}, "unreadable.yaml": {"instances": "many"}}, 2),
    ],
)
def test_an_invalid_topology_fails_synthesis_with_the_words_of_validate(
    synth: Callable[..., int],
    topology_file: Callable[..., str],
    capfd: pytest.CaptureFixture[str],
    files: dict[str, dict[str, object]],
    status: int,
):
    paths = [topology_file(name, **fields) for name, fields in files.items()]
    assert synth(topologies=paths) == status
    synthesis = capfd.readouterr()
    validation = CliRunner().invoke(batch_quota, ["validate", *paths])
    assert validation.exit_code == status
    assert synthesis.out == ""
    assert synthesis.err == validation.stdout + validation.stderr
    assert "error QM" in synthesis.err


def test_a_topology_that_is_not_there_fails_synthesis(synth: Callable[..., int], capfd: pytest.CaptureFixture[str]):
    assert synth(topology="examples/ml-trainin.yaml") == 2
    assert "did you mean 'ml-training.yaml'?" in capfd.readouterr().err


@pytest.mark.parametrize("context", [{}, {"topologies": []}, {"topology": " , "}])
def test_no_topology_at_all_fails_synthesis(
    synth: Callable[..., int], capfd: pytest.CaptureFixture[str], context: dict[str, object]
):
    assert synth(**context) == 2
    assert "-c topology=PATH" in capfd.readouterr().err


def test_two_topologies_that_would_share_a_stack_fail_synthesis(
    synth: Callable[..., int], topology_file: Callable[..., str], capfd: pytest.CaptureFixture[str]
):
    first, second = topology_file("a.yaml", name="ml-training"), topology_file("b.yaml", name="ml_training")
    assert synth(topologies=[first, second]) == 2
    assert capfd.readouterr().err.splitlines()[-1] == (
        f"{second}: the stack ml-training is made from {first} already; give the topology another name"
    )


@pytest.mark.parametrize(
    ("topology", "stack"), [("ml-training", "ml-training"), ("ml_training", "ml-training"), ("4711", "topology-4711")]
)
def test_a_stack_has_the_topologys_name_as_cloudformation_takes_it(app: App, topology: str, stack: str):
    valid = {"name": topology, "capacity": {"ml.g5.xlarge": 1}, "teams": {"a": {"shares": {}}}}
    cdk_app.populate(app, [Topology.model_validate(valid)])
    assert stack in [child.node.id for child in app.node.children]


@pytest.mark.parametrize(("given", "protected"), [(None, False), (True, True), ("true", True), ("false", False)])
def test_stacks_are_protected_from_deletion_if_the_context_says_so(
    synth: Callable[..., int],
    topology_file: Callable[..., str],
    tmp_path: Path,
    given: object,
    protected: bool,  # noqa: FBT001
):
    context = {} if given is None else {"termination_protection": given}
    assert synth(topologies=[topology_file("a.yaml", name="first")], **context) == 0
    manifest = json.loads((tmp_path / "cdk.out" / "manifest.json").read_text())
    assert manifest["artifacts"]["first"]["properties"]["terminationProtection"] is protected


def test_warnings_are_told_once_and_by_the_plugin(topology_file: Callable[..., str], tmp_path: Path):
    """In a process of its own: what Node says arrives when it arrives, but before the end."""
    context = {"topology": topology_file("a.yaml", name="first", instances=3)}
    synthesis = subprocess.run(
        [sys.executable, "app.py"],
        cwd=CHECKOUT,
        env=os.environ
        | {
            "CDK_CONTEXT_JSON": json.dumps(context),
            "CDK_OUTDIR": str(tmp_path / "cdk.out"),
            "CDK_VALIDATION": "false",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert synthesis.returncode == 0
    said = synthesis.stderr
    assert said.startswith("1 topology: 2 warnings\n")
    assert said.count("1 of 4 ml.g5.xlarge") == 1
    assert "Acknowledge with 'BatchQuota::QM301'" in said


def test_cdk_synth_runs_on_the_node_of_the_virtual_environment(tmp_path: Path):
    environment = _environment_with_a_broken_node(tmp_path)
    output = tmp_path / "cdk.out"
    cdk = subprocess.run(
        ["cdk", "synth", "--quiet", "--output", str(output), "-c", "topology=examples/notebook.yaml"],
        cwd=CHECKOUT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (cdk.returncode, cdk.stdout) == (0, ""), cdk.stderr
    assert (output / "notebook.template.json").exists()
    assert not (tmp_path / "broken-node-ran").exists()
    assert not list((tmp_path / "home").iterdir())


def test_app_py_finds_node_without_any_path(tmp_path: Path):
    environment = _environment_with_a_broken_node(tmp_path) | {
        "PATH": str(tmp_path / "bin"),
        "CDK_CONTEXT_JSON": json.dumps({"topology": "examples/notebook.yaml"}),
        "CDK_OUTDIR": str(tmp_path / "cdk.out"),
        "CDK_VALIDATION": "false",
    }
    synthesis = subprocess.run(
        [sys.executable, "app.py"], cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False
    )
    assert (synthesis.returncode, synthesis.stdout) == (0, ""), synthesis.stderr
    assert (tmp_path / "cdk.out" / "notebook.template.json").exists()
    assert not (tmp_path / "broken-node-ran").exists()


def test_the_folder_constructs_does_not_hide_the_package_that_the_cdk_imports():
    program = "import constructs, batch_quota; print(constructs.__file__); print(constructs.Construct.__module__)"
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert "site-packages" in found[0]
    assert found[1] == "constructs"
    assert not (CHECKOUT / "constructs" / "__init__.py").exists()


def _environment_with_a_broken_node(folder: Path) -> dict[str, str]:
    """The virtual environment's commands first, then a `node` that leaves a mark and fails. No system folder at all."""
    commands = folder / "bin"
    commands.mkdir()
    broken = commands / "node"
    broken.write_text(f"#!/bin/sh\n: > {folder}/broken-node-ran\nexit 1\n")
    broken.chmod(0o755)
    home = folder / "home"
    home.mkdir()
    path = f"{Path(sys.executable).parent}{os.pathsep}{commands}"
    assert Path(shutil.which("node", path=path) or "").parent == Path(sys.executable).parent
    return {
        "PATH": path,
        "HOME": str(home),
        "CDK_HOME": str(folder / "cdk-home"),
        "CDK_DISABLE_CLI_TELEMETRY": "true",
        "JSII_RUNTIME_PACKAGE_CACHE_ROOT": os.environ["JSII_RUNTIME_PACKAGE_CACHE_ROOT"],
    }
