"""What CloudFormation gets: snapshots of whole templates, cfn-lint in many Regions, cdk-nag, CDK's own validation."""

import json
from pathlib import Path
from typing import Any

import cfnlint.api
import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3
from cfnlint.config import ManualArgs
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from app import populate
from policy_engine.rules import check
from policy_engine.topology import Topology, read_topology

Json = dict[str, Any]

REGIONS = [
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-southeast-2",
    "ca-central-1",
    "eu-central-1",
    "eu-north-1",
    "eu-west-1",
    "eu-west-2",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-gov-west-1",
    "us-west-2",
]

SIZES = ["xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge"]
MINIMAL = {
    "name": "minimal",
    "capacity": {"ml.g5.xlarge": 1},
    "teams": {"only": {"shares": {"only": {"capacity": {"ml.g5.xlarge": 1}, "strategy": "RESERVE"}}}},
}
LARGEST = {
    "name": "largest",
    "capacity": {f"ml.g5.{size}": 40 for size in SIZES},
    "teams": {
        f"team-{team}": {
            "shares": {
                f"share-{team}-{number}": {
                    "capacity": {f"ml.g5.{size}": 2 for size in SIZES},
                    "strategy": strategy,
                    **({"borrow_limit": 100 * number} if strategy == "LEND_AND_BORROW" else {}),
                }
                for number, strategy in enumerate(["RESERVE", "LEND", "LEND_AND_BORROW", "LEND_AND_BORROW"])
            }
        }
        for team in range(5)
    },
}

CHECKOUT = Path(__file__).parents[2]
EXAMPLES = sorted(path.stem for path in CHECKOUT.glob("examples/*.yaml"))
NAMES = ["minimal", "largest", *EXAMPLES]


@pytest.fixture(scope="session")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All topologies synthesized as app.py does it, in one go: folder of the cloud assembly."""
    folder = tmp_path_factory.mktemp("assembly")
    app = App(outdir=str(folder), analytics_reporting=False, context=_context())
    examples = [read_topology(CHECKOUT / "examples" / f"{name}.yaml").topology for name in EXAMPLES]
    populate(app, [Topology.model_validate(MINIMAL), Topology.model_validate(LARGEST), *examples])
    app.synth()
    return folder


@pytest.fixture(params=NAMES)
def template(request: pytest.FixtureRequest, assembly: Path) -> Json:
    return dict(json.loads((assembly / f"{request.param}.template.json").read_text()))


def test_the_examples_are_among_the_templates():
    assert {"ml-training", "notebook"} <= set(EXAMPLES)


def test_the_template_is_the_one_that_was_reviewed(template: Json, snapshot: SnapshotAssertion):
    assert template == snapshot(extension_class=JSONSnapshotExtension)


def test_cfn_lint_finds_nothing_in_any_region(template: Json):
    assert _lint(template) == []


def test_cfn_lint_looks_at_quota_shares(assembly: Path):
    template = json.loads((assembly / "minimal.template.json").read_text())
    (share,) = [r for r in template["Resources"].values() if r["Type"] == "AWS::Batch::QuotaShare"]
    share["Properties"]["CapacityLimits"][0]["MaxCapacity"] = 0
    assert [message for message in _lint(template) if "0 is less than the minimum of 1" in message]


def test_the_template_is_within_cloudformations_limits(template: Json):
    assert len(json.dumps(template)) < 1_000_000
    assert len(template["Resources"]) <= 500


def test_cdk_nag_and_cdks_own_validation_find_nothing(assembly: Path):
    reports = json.loads((assembly / "validation-report.json").read_text())["pluginReports"]
    assert [report for report in reports if report["pluginName"] != "BatchQuota"] == []


def test_the_policy_engine_finds_risks_where_the_rules_do_and_none_in_the_examples(assembly: Path):
    reports = json.loads((assembly / "validation-report.json").read_text())["pluginReports"]
    (found,) = [report["violations"] for report in reports if report["pluginName"] == "BatchQuota"]
    made = {"minimal": MINIMAL, "largest": LARGEST}
    assert {(each["ruleName"], each["severity"]) for each in found} == {
        (finding.id, finding.severity.value)
        for data in made.values()
        for finding in check(Topology.model_validate(data))
    }
    paths = [place["constructPath"] for each in found for place in each["violatingConstructs"]]
    assert {path.partition("/")[0] for path in paths} == set(made)


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


def _lint(template: Json) -> list[str]:
    return [str(match) for match in cfnlint.api.lint(json.dumps(template), config=ManualArgs(regions=REGIONS))]
