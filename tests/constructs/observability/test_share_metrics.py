"""The function that publishes share metrics: its rights, its schedule, its log and its code."""

import importlib.util
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Duration, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk.assertions import Match, Template

from batch_quota import ShareMetrics, ShareMetricsOptions
from batch_quota.observability import share_metrics

Json = dict[str, Any]

QUEUE = "arn:aws:batch:us-east-1:111122223333:job-queue/training"
HANDLER = Path(share_metrics.__file__).parent / "share_metrics_handler" / "handler.py"


@pytest.fixture
def made(stack: Stack) -> Callable[..., ShareMetrics]:
    def make(options: ShareMetricsOptions | None = None) -> ShareMetrics:
        key = kms.Key(stack, "Key")
        return ShareMetrics(stack, "Metrics", job_queue_arn=QUEUE, encryption_key=key, options=options)

    return make


def test_the_function_may_read_one_queue_and_write_one_log_and_nothing_else(
    stack: Stack, made: Callable[..., ShareMetrics]
):
    metrics = made()
    template = Template.from_stack(stack)
    (policy,) = template.find_resources("AWS::IAM::ManagedPolicy").values()
    log_group = stack.get_logical_id(metrics.log_group.node.default_child)
    assert policy["Properties"]["PolicyDocument"]["Statement"] == [
        {
            "Effect": "Allow",
            "Action": ["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"],
            "Resource": QUEUE,
        },
        {
            "Effect": "Allow",
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Resource": {"Fn::GetAtt": [log_group, "Arn"]},
        },
    ]
    (role,) = template.find_resources("AWS::IAM::Role").values()
    assert role["Properties"].keys() == {"AssumeRolePolicyDocument", "ManagedPolicyArns"}
    assert len(role["Properties"]["ManagedPolicyArns"]) == 1
    (statement,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "lambda.amazonaws.com"}
    template.resource_count_is("AWS::IAM::Policy", 0)


def test_only_its_schedule_may_invoke_it(stack: Stack, made: Callable[..., ShareMetrics]):
    metrics = made()
    template = Template.from_stack(stack)
    rule = stack.get_logical_id(metrics.schedule.node.default_child)
    (permission,) = template.find_resources("AWS::Lambda::Permission").values()
    assert permission["Properties"]["Principal"] == "events.amazonaws.com"
    assert permission["Properties"]["SourceArn"] == {"Fn::GetAtt": [rule, "Arn"]}


def test_its_log_is_encrypted_and_kept_for_a_month(stack: Stack, made: Callable[..., ShareMetrics]):
    metrics = made()
    template = Template.from_stack(stack)
    template.has_resource(
        "AWS::Logs::LogGroup",
        {
            "Properties": {"RetentionInDays": 30, "KmsKeyId": Match.any_value()},
            "DeletionPolicy": "Delete",
        },
    )
    (function,) = template.find_resources("AWS::Lambda::Function").values()
    log_group = stack.get_logical_id(metrics.log_group.node.default_child)
    assert function["Properties"]["LoggingConfig"] == {"LogGroup": {"Ref": log_group}}


def test_cloudwatch_logs_may_use_the_key_for_log_groups_of_the_account_only(
    stack: Stack, made: Callable[..., ShareMetrics]
):
    made()
    groups = {"Fn::Sub": "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:*"}
    statement = {
        "Principal": {"Service": {"Fn::Sub": "logs.${AWS::Region}.${AWS::URLSuffix}"}},
        "Condition": {"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
    }
    Template.from_stack(stack).has_resource_properties(
        "AWS::KMS::Key", {"KeyPolicy": {"Statement": Match.array_with([Match.object_like(statement)])}}
    )


@pytest.mark.parametrize(
    ("minutes", "rate", "age"),
    [
        (None, "rate(5 minutes)", 300),
        (1, "rate(1 minute)", 60),
        (60, "rate(60 minutes)", 3600),
    ],
)
def test_it_runs_once_a_period_and_is_not_tried_again(
    stack: Stack, made: Callable[..., ShareMetrics], minutes: int | None, rate: str, age: int
):
    metrics = made(ShareMetricsOptions(period=None if minutes is None else Duration.minutes(minutes)))
    template = Template.from_stack(stack)
    template.has_resource_properties("AWS::Events::Rule", {"ScheduleExpression": rate})
    template.has_resource_properties(
        "AWS::Lambda::EventInvokeConfig", {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": age}
    )
    assert metrics.period_seconds == age


def test_it_knows_queue_and_namespace(stack: Stack, made: Callable[..., ShareMetrics]):
    assert made(ShareMetricsOptions(namespace="Training")).namespace == "Training"
    Template.from_stack(stack).has_resource_properties(
        "AWS::Lambda::Function",
        {"Environment": {"Variables": {"JOB_QUEUE_ARN": QUEUE, "METRIC_NAMESPACE": "Training"}}},
    )


def test_the_runtime_is_the_newest_python_that_the_cdk_knows(stack: Stack, made: Callable[..., ShareMetrics]):
    made()
    versions = [runtime.name for runtime in lambda_.Runtime.ALL if runtime.family is lambda_.RuntimeFamily.PYTHON]
    newest = max(versions, key=lambda name: [int(part) for part in name.removeprefix("python").split(".")])
    Template.from_stack(stack).has_resource_properties("AWS::Lambda::Function", {"Runtime": newest})


def test_runtime_retention_concurrency_and_layers_can_be_chosen(stack: Stack, made: Callable[..., ShareMetrics]):
    layer = lambda_.LayerVersion.from_layer_version_arn(
        stack, "Boto3", "arn:aws:lambda:us-east-1:111122223333:layer:boto3:1"
    )
    made(
        ShareMetricsOptions(
            runtime=lambda_.Runtime.PYTHON_3_13,
            log_retention=logs.RetentionDays.ONE_YEAR,
            reserved_concurrency=None,
            layers=[layer],
        )
    )
    template = Template.from_stack(stack)
    template.has_resource_properties(
        "AWS::Lambda::Function",
        {
            "Runtime": "python3.13",
            "Layers": ["arn:aws:lambda:us-east-1:111122223333:layer:boto3:1"],
            "ReservedConcurrentExecutions": Match.absent(),
        },
    )
    template.has_resource_properties("AWS::Logs::LogGroup", {"RetentionInDays": 365})


def test_it_can_run_in_a_vpc(stack: Stack, made: Callable[..., ShareMetrics]):
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    made(ShareMetricsOptions(vpc=vpc, vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)))
    template = Template.from_stack(stack)
    ours = {"Properties": {"Handler": "handler.handler"}}
    (function,) = template.find_resources("AWS::Lambda::Function", ours).values()
    assert len(function["Properties"]["VpcConfig"]["SubnetIds"]) == 2
    assert function["DependsOn"], "the routes of the subnets"
    interfaces = {"Fn::Join": ["", Match.array_with([":iam::aws:policy/service-role/AWSLambdaENIManagementAccess"])]}
    template.has_resource_properties("AWS::IAM::Role", {"ManagedPolicyArns": Match.array_with([interfaces])})


def test_its_role_can_be_given_more(stack: Stack, made: Callable[..., ShareMetrics]):
    metrics = made()
    metrics.function.add_to_role_policy(iam.PolicyStatement(actions=["xray:PutTraceSegments"], resources=["*"]))
    (policy,) = Template.from_stack(stack).find_resources("AWS::IAM::Policy").values()
    assert stack.get_logical_id(metrics.role.node.default_child) in json.dumps(policy["Properties"]["Roles"])


def test_all_problems_of_the_options_are_told_at_once(stack: Stack, made: Callable[..., ShareMetrics]):
    with pytest.raises(ValueError, match="Stack/Metrics is not valid") as refusal:
        made(
            ShareMetricsOptions(
                period=Duration.seconds(90),
                namespace="AWS/Batch",
                reserved_concurrency=0,
                vpc_subnets=ec2.SubnetSelection(),
            )
        )
    assert str(refusal.value).splitlines()[1:] == [
        "  - period: minutes: expected a whole number from 1 to 60, not 1.5",
        "  - reserved_concurrency: expected a whole number from 1 up, not 0",
        "  - namespace: expected one of your own, not 'AWS/Batch'",
        "  - vpc_subnets: there is no vpc that they could be in",
    ]


def test_what_is_uploaded_is_the_handler_alone(app: App, stack: Stack, made: Callable[..., ShareMetrics]):
    (HANDLER.parent / "__pycache__").mkdir(exist_ok=True)
    made()
    assembly = Path(app.synth().directory)
    (staged,) = assembly.glob("asset.*")
    assert [path.relative_to(staged).as_posix() for path in staged.rglob("*")] == ["handler.py"]
    assert (staged / "handler.py").read_bytes() == HANDLER.read_bytes()


def test_the_hash_of_the_asset_is_that_of_the_handler_wherever_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    elsewhere = tmp_path / "site-packages" / "share_metrics_handler"
    elsewhere.mkdir(parents=True)
    shutil.copyfile(HANDLER, elsewhere / "handler.py")
    keys = [_asset_key(tmp_path / "1")]
    monkeypatch.setattr(share_metrics, "_HANDLER", elsewhere)
    keys.append(_asset_key(tmp_path / "2"))
    (elsewhere / "handler.py").write_text("changed = True\n")
    keys.append(_asset_key(tmp_path / "3"))
    assert keys[0] == keys[1] != keys[2]


def test_the_uploaded_file_can_be_imported_alone(tmp_path: Path):
    archive = tmp_path / "function.zip"
    with zipfile.ZipFile(archive, "w") as uploaded:
        uploaded.write(HANDLER, "handler.py")
    with zipfile.ZipFile(archive) as uploaded:
        uploaded.extractall(tmp_path / "task")
    spec = importlib.util.spec_from_file_location("handler", tmp_path / "task" / "handler.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert callable(module.handler)


def _asset_key(outdir: Path) -> str:
    app = App(outdir=str(outdir), analytics_reporting=False, builtin_cloud_formation_validation=False)
    stack = Stack(app, "Stack")
    ShareMetrics(stack, "Metrics", job_queue_arn=QUEUE, encryption_key=kms.Key(stack, "Key"))
    (function,) = Template.from_stack(stack).find_resources("AWS::Lambda::Function").values()
    return str(function["Properties"]["Code"]["S3Key"])
