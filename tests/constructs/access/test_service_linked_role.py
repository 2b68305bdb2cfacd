from collections.abc import Callable
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template
from iam_decisions import ACCOUNT, Request, allowed, principals

from batch_quota import BatchSageMakerServiceLinkedRole, ServiceEnvironment

SERVICE = "sagemaker-queuing.batch.amazonaws.com"
ARN = f"arn:aws:iam::{ACCOUNT}:role/aws-service-role/{SERVICE}/AWSServiceRoleForAWSBatchWithSagemaker"


def test_it_is_made_for_the_service_that_queues_training_jobs_before_what_needs_it(stack: Stack):
    role = BatchSageMakerServiceLinkedRole(stack, "Role")
    ServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": 1}).node.add_dependency(role)
    template = Template.from_stack(stack)
    ((name, made),) = template.find_resources("AWS::IAM::ServiceLinkedRole").items()
    assert made["Properties"] == {"AWSServiceName": SERVICE}
    (environment,) = template.find_resources("AWS::Batch::ServiceEnvironment").values()
    assert environment["DependsOn"] == [name]


def test_the_accounts_role_is_referred_to_by_its_fixed_arn(stack_in: Callable[[str, str], Stack]):
    stack = stack_in("Stack", "eu-west-1")
    role = BatchSageMakerServiceLinkedRole.from_account(stack, "Role")
    assert "".join(_text(stack.resolve(role.role_arn))) == ARN
    assert "".join(_text(stack.resolve(BatchSageMakerServiceLinkedRole(stack, "Made").role_arn))) == ARN


@pytest.mark.parametrize(
    ("arn", "service", "may"),
    [
        (ARN, SERVICE, True),
        (ARN, "batch.amazonaws.com", False),
        (ARN.replace(SERVICE, "batch.amazonaws.com"), "batch.amazonaws.com", False),
    ],
)
def test_who_may_make_it_may_make_no_other(tmp_path: Path, arn: str, service: str, may: bool):  # noqa: FBT001 (a table)
    app = App(outdir=str(tmp_path), builtin_cloud_formation_validation=False)
    stack = Stack(app, "Stack")
    deployer = iam.Role(stack, "Deployer", assumed_by=iam.AccountRootPrincipal())
    assert BatchSageMakerServiceLinkedRole.grant_create(stack, deployer).success
    (policies,) = principals(app.synth().get_stack_by_name("Stack").template).values()
    request = Request("iam:CreateServiceLinkedRole", arn, {"iam:AWSServiceName": service})
    assert allowed(policies, [request]) == [may]


def _text(value: object) -> list[str]:
    if isinstance(value, dict):
        return [part if isinstance(part, str) else "aws" for part in value["Fn::Join"][1]]
    return [str(value)]
