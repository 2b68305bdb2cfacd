"""The role that training jobs run as: who gets it, and what it may do, judged by a policy evaluator."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Fn, PermissionsBoundary, Stack, Validations
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from iam_decisions import ACCOUNT, REGION, Document, Request, allowed, principals

from batch_quota import TrainingExecutionRole

DATA_KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/data"
VOLUME_KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/volume"
LOGS = f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group"
IMAGES = f"arn:aws:ecr:{REGION}:{ACCOUNT}:repository"
FOR_AWS = {"kms:GrantIsForAWSResource": "true"}
KEY_POLICY: Document = {
    "Version": "2012-10-17",
    "Statement": [
        {"Effect": "Allow", "Principal": {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}, "Action": "kms:*", "Resource": "*"}
    ],
}
"""What KMS gives a new key: the account's IAM policies decide."""

MAY = {
    "read what is in an input bucket": Request("s3:GetObject", "arn:aws:s3:::datasets/a/b"),
    "list an input bucket": Request("s3:ListBucket", "arn:aws:s3:::datasets"),
    "read a checkpoint": Request("s3:GetObject", "arn:aws:s3:::models/checkpoint"),
    "write to an output bucket": Request("s3:PutObject", "arn:aws:s3:::models/a"),
    "decrypt": Request("kms:Decrypt", DATA_KEY, {}, KEY_POLICY),
    "encrypt": Request("kms:GenerateDataKey", DATA_KEY, {}, KEY_POLICY),
    "let a volume use its key": Request("kms:CreateGrant", VOLUME_KEY, FOR_AWS, KEY_POLICY),
    "pull an image": Request("ecr:BatchGetImage", f"{IMAGES}/training"),
    "log in to pull it": Request("ecr:GetAuthorizationToken", "*"),
    "log": Request("logs:PutLogEvents", f"{LOGS}:/aws/sagemaker/TrainingJobs:log-stream:job/algo-1"),
    "publish metrics": Request(
        "cloudwatch:PutMetricData", "*", {"cloudwatch:namespace": "/aws/sagemaker/TrainingJobs"}
    ),
}
MAY_NOT = {
    "write to an input bucket": Request("s3:PutObject", "arn:aws:s3:::datasets/a"),
    "remove objects": Request("s3:DeleteObject", "arn:aws:s3:::models/a"),
    "read another bucket": Request("s3:GetObject", "arn:aws:s3:::datasets-of-others/a"),
    "use a volume's key for data": Request("kms:Decrypt", VOLUME_KEY, {}, KEY_POLICY),
    "give a key away": Request("kms:CreateGrant", VOLUME_KEY, {"kms:GrantIsForAWSResource": "false"}, KEY_POLICY),
    "pull another image": Request("ecr:BatchGetImage", f"{IMAGES}/others"),
    "push an image": Request("ecr:PutImage", f"{IMAGES}/training"),
    "log elsewhere": Request("logs:PutLogEvents", f"{LOGS}:/aws/sagemaker/Endpoints:log-stream:x"),
    "publish other metrics": Request("cloudwatch:PutMetricData", "*", {"cloudwatch:namespace": "AWS/Batch"}),
    "submit jobs": Request("batch:SubmitServiceJob", f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/q"),
    "pass roles": Request("iam:PassRole", f"arn:aws:iam::{ACCOUNT}:role/a"),
}


@pytest.fixture(scope="module")
def policies(tmp_path_factory: pytest.TempPathFactory) -> list[Document]:
    app = App(outdir=str(tmp_path_factory.mktemp("cdk.out")), builtin_cloud_formation_validation=False)
    stack = Stack(app, "Stack")
    TrainingExecutionRole(
        stack,
        "Role",
        input_buckets=[s3.Bucket.from_bucket_name(stack, "Datasets", "datasets")],
        output_buckets=[s3.Bucket.from_bucket_name(stack, "Models", "models")],
        encryption_keys=[kms.Key.from_key_arn(stack, "DataKey", DATA_KEY)],
        volume_encryption_keys=[kms.Key.from_key_arn(stack, "VolumeKey", VOLUME_KEY)],
        repositories=[ecr.Repository.from_repository_name(stack, "Images", "training")],
    )
    (documents,) = principals(app.synth().get_stack_by_name("Stack").template).values()
    return documents


@pytest.fixture(scope="module")
def decisions(policies: list[Document]) -> dict[str, bool]:
    requests = {**MAY, **MAY_NOT}
    return dict(zip(requests, allowed(policies, list(requests.values())), strict=True))


@pytest.mark.parametrize("what", MAY)
def test_a_job_may(decisions: dict[str, bool], what: str):
    assert decisions[what] is True


@pytest.mark.parametrize("what", MAY_NOT)
def test_a_job_may_not(decisions: dict[str, bool], what: str):
    assert decisions[what] is False


def test_only_training_jobs_of_the_account_and_region_get_the_role(stack_in: Callable[[str, str], Stack]):
    stack = stack_in("Stack", "eu-west-1")
    TrainingExecutionRole(stack, "Role", role_name="training")
    (role,) = Template.from_stack(stack).find_resources("AWS::IAM::Role").values()
    (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    source = statement["Condition"].pop("ArnLike")["aws:SourceArn"]
    assert statement == {
        "Effect": "Allow",
        "Principal": {"Service": "sagemaker.amazonaws.com"},
        "Action": "sts:AssumeRole",
        "Condition": {},
    }
    assert _joined(source) == "arn:aws:sagemaker:eu-west-1:111122223333:training-job/*"
    assert role["Properties"]["RoleName"] == "training"


def test_what_is_not_passed_in_is_not_allowed(stack: Stack):
    TrainingExecutionRole(stack, "Role")
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy").values()
    actions = [statement["Action"] for statement in policy["Properties"]["PolicyDocument"]["Statement"]]
    assert actions == [
        ["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
        "cloudwatch:PutMetricData",
    ]


def test_the_keys_of_the_buckets_are_used_as_the_buckets_are(stack: Stack):
    datasets, models = (s3.Bucket(stack, name, encryption_key=kms.Key(stack, f"{name}Key")) for name in ("In", "Out"))
    TrainingExecutionRole(stack, "Role", input_buckets=[datasets, models], output_buckets=[models])
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy").values()
    statements = policy["Properties"]["PolicyDocument"]["Statement"]
    of_keys = [(each["Action"], each["Resource"]) for each in statements if "kms:Decrypt" in each["Action"]]
    read, written = (stack.resolve(bucket.encryption_key.key_arn) for bucket in (datasets, models))
    assert of_keys == [("kms:Decrypt", read), (["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], written)]


def test_the_wildcards_of_buckets_that_come_from_elsewhere_are_acknowledged(app: App, tmp_path: Path):
    stack = Stack(app, "Stack")
    parameter = CfnParameter(stack, "Parameter").value_as_string
    arns = [Fn.import_value("Arn"), Fn.sub("arn:aws:s3:::${AWS::AccountId}"), parameter, Fn.select(0, [parameter])]
    TrainingExecutionRole(
        stack,
        "Role",
        input_buckets=[s3.Bucket.from_bucket_arn(stack, f"Bucket{place}", arn) for place, arn in enumerate(arns)],
    )
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    app.synth()
    reports = json.loads((tmp_path / "cdk.out" / "validation-report.json").read_text())["pluginReports"]
    assert [violation["ruleName"] for report in reports for violation in report["violations"]] == []


def test_it_has_no_inline_policy_of_its_own(stack: Stack):
    TrainingExecutionRole(stack, "Role", input_buckets=[s3.Bucket.from_bucket_name(stack, "Bucket", "bucket")])
    template = Template.from_stack(stack)
    assert template.find_resources("AWS::IAM::Policy") == {}
    (role,) = template.find_resources("AWS::IAM::Role").values()
    assert "Policies" not in role["Properties"]


def test_a_permissions_boundary_of_the_app_holds_for_it(app: App):
    stack = Stack(app, "Bounded", permissions_boundary=PermissionsBoundary.from_name("boundary"))
    TrainingExecutionRole(stack, "Role")
    (role,) = Template.from_stack(stack).find_resources("AWS::IAM::Role").values()
    assert "boundary" in str(role["Properties"]["PermissionsBoundary"])


def _joined(value: Any) -> str:  # noqa: ANN401 (text, or a Join with the partition)
    if isinstance(value, str):
        return value
    return "".join(part if isinstance(part, str) else "aws" for part in value["Fn::Join"][1])
