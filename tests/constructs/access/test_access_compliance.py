"""cdk-nag's packs on what access makes: clean, and no more acknowledged than what was meant."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack, Validations
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from cdk_nag import AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks

from batch_quota import BatchSageMakerServiceLinkedRole, QuotaManagedQueue, Topology, TrainingExecutionRole

CHECKOUT = Path(__file__).parents[3]
ROLE = "arn:aws:iam::111122223333:role"


def topology(**team: object) -> Topology:
    share = {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND", "max_priority": 5}
    team = {"execution_roles": [f"{ROLE}/training"], "shares": {"search": share}, **team}
    return Topology.model_validate({"name": "ml", "capacity": {"ml.g5.xlarge": 1}, "teams": {"search": team}})


@pytest.fixture
def findings(tmp_path: Path) -> Callable[[Callable[[Stack], object]], set[str]]:
    """What all packs find in a stack that something was made in: ids of rules."""

    def find(make: Callable[[Stack], object]) -> set[str]:
        context = json.loads((CHECKOUT / "cdk.json").read_text())["context"]
        app = App(outdir=str(tmp_path), context=context, builtin_cloud_formation_validation=False)
        packs = (AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks, PCIDSS321Checks)
        Validations.of(app).add_plugins(*(pack(app) for pack in packs))
        make(Stack(app, "Stack"))
        with suppress(RuntimeError):  # a finding fails the synthesis, and the report has it
            app.synth()
        reports: list[dict[str, Any]] = json.loads((tmp_path / "validation-report.json").read_text())["pluginReports"]
        return {violation["ruleName"] for report in reports for violation in report["violations"]}

    return find


Findings = Callable[[Callable[[Stack], object]], set[str]]


def test_the_policies_of_teams_are_clean(findings: Findings):
    everybody = topology(submitters=[f"{ROLE}/s"], operators=[f"{ROLE}/o"], viewers=[f"{ROLE}/v"])
    assert findings(lambda stack: QuotaManagedQueue(stack, "Quota", topology=everybody, observability=None)) == set()


@pytest.mark.parametrize("made_here", [True, False])
def test_an_execution_role_is_clean(findings: Findings, made_here: bool):  # noqa: FBT001 (a table)
    def make(stack: Stack) -> None:
        key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:111122223333:key/a")
        bucket: s3.IBucket = s3.Bucket.from_bucket_name(stack, "Imported", "imported")
        repository: ecr.IRepository = ecr.Repository.from_repository_name(stack, "Images", "images")
        if made_here:
            bucket = s3.Bucket(stack, "Bucket", enforce_ssl=True)
            repository = ecr.Repository(stack, "Repository")
        TrainingExecutionRole(
            stack,
            "Role",
            input_buckets=[bucket],
            output_buckets=[bucket],
            encryption_keys=[key],
            volume_encryption_keys=[key],
            repositories=[repository],
        )

    assert not [rule for rule in findings(make) if "IAM" in rule]


def test_the_service_linked_role_is_clean(findings: Findings):
    assert findings(lambda stack: BatchSageMakerServiceLinkedRole(stack, "Role")) == set()


def test_a_policy_on_a_user_is_found_since_that_is_the_topologys_choice(findings: Findings):
    user = topology(viewers=["arn:aws:iam::111122223333:user/alice"])
    found = findings(lambda stack: QuotaManagedQueue(stack, "Quota", topology=user, observability=None))
    assert {rule.rpartition("-")[2] for rule in found} == {"IAMUserNoPolicies"}


def test_a_wildcard_that_somebody_adds_is_found(findings: Findings):
    def make(stack: Stack) -> None:
        role = TrainingExecutionRole(stack, "Role")
        role.add_to_policy(iam.PolicyStatement(actions=["s3:GetObject"], resources=["arn:aws:s3:::others/*"]))

    assert any("AwsSolutions-IAM5" in rule for rule in findings(make))


@pytest.mark.parametrize(
    ("named", "acknowledged"),
    [
        ({}, []),
        ({"viewers": [f"{ROLE}/v"]}, ["*"]),
        (
            {"submitters": [f"{ROLE}/s"]},
            ["*", "arn:<AWS::Partition>:batch:<AWS::Region>:<AWS::AccountId>:service-job/*"],
        ),
    ],
)
def test_only_what_is_there_is_acknowledged_each_with_a_reason(
    stack: Stack, named: dict[str, object], acknowledged: list[str]
):
    quota = QuotaManagedQueue(stack, "Quota", topology=topology(**named), observability=None)
    reasons: dict[str, str] = {}
    for construct in quota.node.find_all():
        for entry in construct.node.metadata:
            if entry.type == Validations.ACKNOWLEDGED_RULES_METADATA_KEY:
                assert construct.node.path == "Stack/Quota/Access"
                reasons |= entry.data
    assert sorted(rule.partition("Resource::")[2].removesuffix("]") for rule in reasons) == acknowledged
    assert all(len(reason) > 40 for reason in reasons.values())
