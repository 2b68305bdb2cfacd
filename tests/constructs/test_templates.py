"""What CloudFormation gets: snapshots of whole templates, cfn-lint, compliance packs, CloudFormation's limits."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cfnlint
import cfnlint.api
import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_s3 as s3
from cdk_nag import HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks
from cdk_scenarios import EVERYTHING, LARGEST, MINIMAL, SCENARIOS, STACKS
from cfnlint.config import ManualArgs
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from app import populate
from policy_engine.rules import check
from policy_engine.topology import Topology, read_topology

Json = dict[str, Any]

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = {path.stem: read_topology(path).topology for path in sorted(CHECKOUT.glob("examples/*.yaml"))}
NAMES = [*STACKS, *(topology.name for topology in EXAMPLES.values())]

REGIONS = [
    "ap-east-1",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-southeast-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ca-central-1",
    "cn-north-1",
    "cn-northwest-1",
    "eu-central-1",
    "eu-north-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "il-central-1",
    "me-central-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-2",
]
"""Regions of which cfn-lint's data have ml.g5 instances for some use of SageMaker. It has no such data on training."""
WITHOUT_QUOTA_SHARES = "me-central-1"
"""Of which cfn-lint's schemas have no AWS::Batch::QuotaShare. AWS says that every Region with AWS Batch has them."""


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All scenarios, and the examples as app.py makes them, in one app with four compliance packs: its assembly."""
    folder = tmp_path_factory.mktemp("assembly")
    app = App(outdir=str(folder), analytics_reporting=False, context=_context())
    Validations.of(app).add_plugins(HIPAASecurityChecks(app), NIST80053R5Checks(app), PCIDSS321Checks(app))
    populate(app, EXAMPLES.values())
    for make in SCENARIOS.values():
        make(app)
    app.synth()
    return folder


@pytest.fixture(scope="session")
def reports(assembly: Path) -> list[Json]:
    """What the plugins found in the app."""
    return list(json.loads((assembly / "validation-report.json").read_text())["pluginReports"])


@pytest.fixture(params=NAMES)
def template(request: pytest.FixtureRequest, assembly: Path) -> Json:
    return _template(assembly, request.param)


@pytest.mark.parametrize("name", [*STACKS, "ml-training"])
def test_the_template_is_the_one_that_was_reviewed(assembly: Path, name: str, snapshot: SnapshotAssertion):
    assert _template(assembly, name) == snapshot(extension_class=JSONSnapshotExtension)


def test_the_templates_of_two_regions_differ_in_nothing_but_the_bucket_of_the_functions_code(assembly: Path):
    here, there = (_template(assembly, f"two-regions-{region}")["Resources"] for region in ("eu-west-1", "us-east-1"))
    different = {here[name]["Type"] for name in here if here[name] != there.get(name)}
    assert different == {"AWS::Lambda::Function", "AWS::Lambda::Permission"}


def test_cfn_lint_finds_nothing_in_two_partitions(template: Json):
    assert _lint(template, ["us-east-1", "us-gov-west-1"]) == []


@pytest.mark.slow
def test_cfn_lint_finds_nothing_in_any_region_that_has_ml_g5(template: Json):
    assert _lint(template, [region for region in REGIONS if region != WITHOUT_QUOTA_SHARES]) == []


def test_cfn_lint_knows_no_quota_shares_in_one_region_and_finds_nothing_else_there(assembly: Path):
    template = _template(assembly, "minimal")
    (message,) = _lint(template, [WITHOUT_QUOTA_SHARES])
    assert "'AWS::Batch::QuotaShare' does not exist in 'me-central-1'" in message


def test_the_regions_are_those_of_which_cfn_lint_knows_ml_g5():
    folder = Path(cfnlint.__file__).parent / "data" / "schemas" / "extensions"
    known: set[str] = set()
    for path in folder.glob("aws_sagemaker_*/instancetype_enum.json"):
        of_region = json.loads(path.read_text())
        known |= {region for region, types in of_region.items() if any("ml.g5." in name for name in _texts(types))}
    assert sorted(known) == REGIONS


def test_cfn_lint_looks_at_quota_shares(assembly: Path):
    template = _template(assembly, "minimal")
    (share,) = [r for r in template["Resources"].values() if r["Type"] == "AWS::Batch::QuotaShare"]
    share["Properties"]["CapacityLimits"][0]["MaxCapacity"] = 0
    assert [message for message in _lint(template, ["us-east-1"]) if "0 is less than the minimum of 1" in message]


def test_four_compliance_packs_and_cdks_own_validation_find_nothing(reports: list[Json]):
    found = {report["pluginName"]: report["violations"] for report in reports}
    # A note of the constructs themselves, on a role that takes no policy.
    (note,) = found.pop("Construct Annotations")
    assert note["ruleName"] == "Annotation::batch-quota:identity-center"
    assert found.keys() <= {"BatchQuota"}


def test_the_policy_engine_finds_risks_where_the_rules_do_and_none_in_the_examples(reports: list[Json]):
    (found,) = [report["violations"] for report in reports if report["pluginName"] == "BatchQuota"]
    assert {(each["ruleName"], each["severity"]) for each in found} == {
        (finding.id, finding.severity.value)
        for data in (MINIMAL, LARGEST, EVERYTHING)
        for finding in check(Topology.model_validate(data))
    }
    paths = [place["constructPath"] for each in found for place in each["violatingConstructs"]]
    assert {path.partition("/")[0] for path in paths} == {"minimal", "largest", "everything-on", "everything-off"}


def test_cdk_nag_fails_the_synthesis_of_the_app_for_what_it_finds(app: App, tmp_path: Path):
    populate(app, [Topology.model_validate(MINIMAL)])
    s3.CfnBucket(Stack(app, "Beside"), "Bucket")
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        app.synth()
    reports = json.loads((tmp_path / "cdk.out" / "validation-report.json").read_text())["pluginReports"]
    (report,) = [each for each in reports if each["pluginName"] == "AwsSolutions"]
    assert {place["constructPath"] for found in report["violations"] for place in found["violatingConstructs"]} == {
        "Beside/Bucket"
    }


def _context() -> Json:
    return dict(json.loads((CHECKOUT / "cdk.json").read_text())["context"])


def _template(assembly: Path, name: str) -> Json:
    return dict(json.loads((assembly / f"{name}.template.json").read_text()))


def _lint(template: Json, regions: list[str]) -> list[str]:
    return [str(match) for match in cfnlint.api.lint(json.dumps(template), config=ManualArgs(regions=regions))]


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)
