"""QM601: which statements let their principals submit to every share of a queue."""

import pytest

from policy_engine.rules.access.every_share import covers_shares
from policy_engine.rules.access_checking import check_access
from policy_engine.template import read_template

BATCH = "arn:aws:batch:eu-west-1:111122223333"
QUEUE = {
    "Queue": {
        "Type": "AWS::Batch::JobQueue",
        "Properties": {
            "JobQueueType": "SAGEMAKER_TRAINING",
            "SchedulingPolicyArn": {"Ref": "Policy"},
            "ServiceEnvironmentOrder": [],
        },
    },
    "Policy": {"Type": "AWS::Batch::SchedulingPolicy", "Properties": {"QuotaSharePolicy": {}}},
    "Share": {"Type": "AWS::Batch::QuotaShare", "Properties": {"JobQueue": {"Ref": "Queue"}}},
}


def found(statement: object, beside: dict[str, object] = QUEUE, kind: str = "Policy") -> list[tuple[str, str]]:
    """Logical id and location of each finding about a statement."""
    policy = {"PolicyDocument": {"Statement": statement}}
    properties = {"Policies": [policy]} if kind in {"Role", "User", "Group"} else policy
    resources = {**beside, "Mine": {"Type": f"AWS::IAM::{kind}", "Properties": properties}}
    checked = check_access(read_template({"Resources": resources}))
    return [(str(place.logical_id), place.location) for finding, place in checked if finding.id == "QM601"]


def allow(resource: object, action: object = "batch:SubmitServiceJob", **more: object) -> dict[str, object]:
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


@pytest.mark.parametrize(
    "pattern",
    [
        "*",
        "arn:*",
        "arn:aws:batch:*",
        "arn:aws:batch:*:*:*",
        f"{BATCH}:*",
        f"{BATCH}:job-*",
        f"{BATCH}:job-queue/*",
        f"{BATCH}:job-queue/ml-*",
        f"{BATCH}:job-queue/ml-queue*",
        f"{BATCH}:job-queue/ml-queue/*",
        f"{BATCH}:job-queue/ml-queue/quota-share/*",
        f"{BATCH}:job-queue/*/quota-share/*",
        "arn:…:batch:…:…:job-queue/…*",
    ],
)
def test_a_wildcard_covers_shares(pattern: str):
    assert covers_shares(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "…",
        "…/*",
        "arn:aws:s3:::bucket/*",
        "arn:aws:*:eu-west-1:111122223333:cluster/*",
        "arn:*:batch:*:*:job-queue/ml-queue",
        f"{BATCH}:service-job/*",
        f"{BATCH}:job-queue/ml-queue",
        f"{BATCH}:job-queue/ml-queue/quota-share/search",
        f"{BATCH}:job-queue/ml-queue/quota-share/search-*",
        f"{BATCH}:job-definition/*",
    ],
)
def test_what_names_queue_and_share_or_is_about_something_else_does_not(pattern: str):
    assert not covers_shares(pattern)


@pytest.mark.parametrize("kind", ["Policy", "ManagedPolicy", "RolePolicy", "Role", "User", "Group"])
def test_policies_of_every_kind_are_read(kind: str):
    inline = "Policies.0." if kind in {"Role", "User", "Group"} else ""
    place = f"Properties.{inline}PolicyDocument.Statement.0.Resource.1"
    statement = allow([f"{BATCH}:service-job/*", {"Fn::Join": ["", [{"Fn::GetAtt": "Queue.JobQueueArn"}, "*"]]}])
    assert found([statement], kind=kind) == [("Mine", place)]


@pytest.mark.parametrize("action", ["batch:*", "BATCH:Submit*", ["s3:GetObject", "batch:SubmitServiceJob"]])
def test_actions_are_matched_as_iam_does(action: object):
    assert found(allow("*", action)) == [("Mine", "Properties.PolicyDocument.Statement.Resource")]


@pytest.mark.parametrize(
    "statement",
    [
        allow("*", "*"),
        allow("*", "batch:SubmitJob"),
        allow("*", "batch:Describe*"),
        {**allow("*"), "Effect": "Deny"},
        allow("*", Condition={"StringEquals": {"aws:ResourceTag/batch-quota:team": "search"}}),
        allow([{"Fn::GetAtt": "Queue.JobQueueArn"}, {"Ref": "Share"}, {"Fn::ImportValue": "somebody"}]),
    ],
)
def test_other_statements_are_left_alone(statement: object):
    assert found(statement) == []


def test_without_a_quota_managed_queue_there_is_nothing_to_say():
    assert found(allow("*"), beside={}) == []
