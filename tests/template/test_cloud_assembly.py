"""Templates as a cloud assembly has them: stack names, nested templates, and the topologies that made them."""

import json
from pathlib import Path
from typing import Any

import pytest

from policy_engine.template.cloud_assembly import TOPOLOGY_METADATA, Assembly, StackTemplate, assembly_of
from policy_engine.topology import Topology

Json = dict[str, Any]
TOPOLOGY = Topology.model_validate(
    {
        "name": "training",
        "capacity": {"ml.g5.xlarge": 2},
        "teams": {"search": {"shares": {"search": {"capacity": {"ml.g5.xlarge": 2}, "strategy": "RESERVE"}}}},
        "expectations": {"search": {"wait_p95": "5m"}, "queue": {"utilization": ">= 60%"}},
    }
)
NESTED = {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": {"Fn::Sub": "https://x/abc123.json"}}}


def assembly(folder: Path, template: Json, *, artifact: Json | None = None, files: Json | None = None) -> Assembly:
    """An assembly with one stack, `Stack`, and what else is written into its folder."""
    stack = {"type": "aws:cloudformation:stack", "properties": {"templateFile": "t.json"}, **(artifact or {})}
    assets = {"type": "cdk:asset-manifest", "properties": {"file": "a.json"}}
    asset = {"files": {"abc123": {"source": {"path": "nested.json"}}}}
    written = {
        "manifest.json": {"artifacts": {"Stack": stack, "Stack.assets": assets}},
        "t.json": template,
        "a.json": asset,
        **(files or {}),
    }
    for name, data in written.items():
        (folder / name).write_text(json.dumps(data))
    return assembly_of([StackTemplate(str(folder / "t.json"), "111122223333", "eu-west-1")])


def entry(topology: Topology = TOPOLOGY) -> Json:
    return {"type": TOPOLOGY_METADATA, "data": topology.model_dump_json(by_alias=True)}


def test_a_stack_has_its_account_its_region_and_the_name_that_the_manifest_says(tmp_path: Path):
    (template,) = assembly(tmp_path, {"Resources": {}}).templates.values()
    assert (template.stack_name, template.account, template.region) == ("Stack", "111122223333", "eu-west-1")
    properties = {"templateFile": "t.json", "stackName": "by-another-name"}
    (template,) = assembly(tmp_path, {}, artifact={"properties": properties}).templates.values()
    assert template.stack_name == "by-another-name"


@pytest.mark.parametrize(
    "nested", [NESTED, {"Type": "AWS::CloudFormation::Stack", "Metadata": {"aws:asset:path": "nested.json"}}]
)
def test_a_nested_template_is_found_by_its_assets_hash_or_path(tmp_path: Path, nested: Json):
    inner = {"Resources": {"Deeper": {**NESTED, "Properties": {"TemplateURL": "https://x/other.json"}}}}
    read = assembly(tmp_path, {"Resources": {"Inner": nested}}, files={"nested.json": inner})
    outer, found = str(tmp_path / "t.json"), str(tmp_path / "nested.json")
    assert set(read.templates) == {outer, found}
    assert read.templates[outer].nested == {"Inner": found}
    assert read.templates[found].nested == {}
    assert read.templates[found].region == "eu-west-1"


def test_a_nested_template_that_is_not_there_is_left_out(tmp_path: Path):
    read = assembly(tmp_path, {"Resources": {"Inner": NESTED}})
    assert len(read.templates) == 1


@pytest.mark.parametrize("apart", [True, False])
def test_the_topologies_of_a_stack_are_in_its_metadata(tmp_path: Path, apart: bool):  # noqa: FBT001
    metadata = {"/Stack": [{"type": "aws:cdk:logicalId", "data": "x"}], "/Stack/Quota": [entry()]}
    artifact = {"additionalMetadataFile": "m.json"} if apart else {"metadata": metadata}
    read = assembly(
        tmp_path, {"Resources": {"I": NESTED}}, artifact=artifact, files={"m.json": metadata, "nested.json": {}}
    )
    assert read.declared == {str(tmp_path / "t.json"): (TOPOLOGY,), str(tmp_path / "nested.json"): (TOPOLOGY,)}


def test_a_template_without_a_manifest_is_read_by_itself(tmp_path: Path):
    (tmp_path / "t.json").write_text('{"Resources": {}}')
    read = assembly_of([StackTemplate(str(tmp_path / "t.json"))])
    (template,) = read.templates.values()
    assert (template.data, template.stack_name, read.declared) == (
        {"Resources": {}},
        None,
        {str(tmp_path / "t.json"): ()},
    )
