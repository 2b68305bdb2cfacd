"""The programs in examples/cdk, which are also what the documentation shows."""

import ast
import json
import runpy
from collections import Counter
from functools import partial
from pathlib import Path

import aws_cdk
import cfnlint.api
import pytest

import batch_quota

EXAMPLES = Path(__file__).parents[2] / "examples" / "cdk"
WATCHERS = {
    "AWS::CloudWatch::Alarm": 10,
    "AWS::CloudWatch::Dashboard": 1,
    "AWS::Events::Rule": 3,
    "AWS::IAM::ManagedPolicy": 1,
    "AWS::IAM::Role": 1,
    "AWS::KMS::Key": 1,
    "AWS::Lambda::EventInvokeConfig": 1,
    "AWS::Lambda::Function": 1,
    "AWS::Lambda::Permission": 1,
    "AWS::Logs::LogGroup": 1,
    "AWS::SNS::Topic": 1,
    "AWS::SNS::TopicPolicy": 1,
}
RESOURCES = {
    "access": {
        "AWS::Batch::SchedulingPolicy": 1,
        "AWS::Batch::ServiceEnvironment": 1,
        "AWS::Batch::JobQueue": 1,
        "AWS::Batch::QuotaShare": 7,
        "AWS::IAM::ManagedPolicy": 8,
        "AWS::IAM::Policy": 3,
        "AWS::IAM::Role": 3,
    },
    "own_stack": {
        "AWS::Batch::SchedulingPolicy": 1,
        "AWS::Batch::ServiceEnvironment": 1,
        "AWS::Batch::JobQueue": 1,
        "AWS::Batch::QuotaShare": 7,
        "AWS::SSM::Parameter": 1,
        **WATCHERS,
        "AWS::IAM::ManagedPolicy": 8,
    },
    "observability": {
        "AWS::Batch::SchedulingPolicy": 1,
        "AWS::Batch::ServiceEnvironment": 1,
        "AWS::Batch::JobQueue": 1,
        "AWS::Batch::QuotaShare": 7,
        "AWS::SNS::Subscription": 1,
        "AWS::SQS::Queue": 1,
        "AWS::SQS::QueuePolicy": 1,
        **WATCHERS,
        "AWS::CloudWatch::Alarm": 9,
        "AWS::IAM::ManagedPolicy": 8,
    },
    "parts": {
        "AWS::Batch::SchedulingPolicy": 1,
        "AWS::Batch::ServiceEnvironment": 1,
        "AWS::Batch::JobQueue": 1,
        "AWS::Batch::QuotaShare": 3,
    },
    "policy_validation": {
        "AWS::Batch::SchedulingPolicy": 2,
        "AWS::Batch::ServiceEnvironment": 2,
        "AWS::Batch::JobQueue": 2,
        "AWS::Batch::QuotaShare": 9,
    },
    "several_stacks": {
        "AWS::Batch::SchedulingPolicy": 1,
        "AWS::Batch::ServiceEnvironment": 1,
        "AWS::Batch::JobQueue": 1,
        "AWS::Batch::QuotaShare": 1,
        "AWS::IAM::Policy": 2,
        "AWS::IAM::Role": 2,
        "AWS::IAM::ServiceLinkedRole": 1,
        "AWS::SSM::Parameter": 2,
    },
    "stages": {
        "AWS::Batch::SchedulingPolicy": 2,
        "AWS::Batch::ServiceEnvironment": 2,
        "AWS::Batch::JobQueue": 2,
        "AWS::Batch::QuotaShare": 4,
        **{type_: 2 * count for type_, count in WATCHERS.items()},
    },
    "watching_a_queue": {type_: 2 * count for type_, count in WATCHERS.items()},
}


@pytest.mark.parametrize("example", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_an_example_synthesizes_what_it_says(example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    app = partial(aws_cdk.App, outdir=str(tmp_path), builtin_cloud_formation_validation=False)
    monkeypatch.setattr(aws_cdk, "App", app)
    runpy.run_path(str(EXAMPLES / f"{example}.py"), run_name="__main__")
    types: Counter[str] = Counter()
    for path in tmp_path.rglob("*.template.json"):
        template = path.read_text()
        assert cfnlint.api.lint(template, regions=["us-east-1"]) == []
        types += Counter(resource["Type"] for resource in json.loads(template)["Resources"].values())
    assert types == RESOURCES[example]


def test_every_public_name_is_in_an_example():
    imported = {
        alias.name
        for path in EXAMPLES.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "batch_quota"
        for alias in node.names
    }
    assert set(batch_quota.__all__) - imported == set()


def test_the_example_of_validation_replays_its_trace_and_acknowledges_what_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    app = partial(aws_cdk.App, outdir=str(tmp_path), builtin_cloud_formation_validation=False)
    monkeypatch.setattr(aws_cdk, "App", app)
    runpy.run_path(str(EXAMPLES / "policy_validation.py"), run_name="__main__")
    (report,) = json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
    assert (report["pluginName"], report["violations"]) == ("BatchQuota", [])
    assert [(each["ruleName"], each["acknowledgedAt"]) for each in report["suppressedViolations"]] == [
        ("QM301", "research-platform/ByHand")
    ]
