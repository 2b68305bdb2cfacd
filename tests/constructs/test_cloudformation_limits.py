"""The largest topology with everything on, and the longest names, is within CloudFormation's quotas, and IAM's.

Quotas are those of "Understand CloudFormation quotas" in the CloudFormation user guide, of "IAM and AWS STS quotas",
and of the API references of the resources.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack

from batch_quota import QuotaManagedQueue, Topology

Json = dict[str, Any]

SIZES = ("xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge")
ROLE = "arn:aws:iam::111122223333:role"
SSO = f"{ROLE}/aws-reserved/sso.amazonaws.com/AWSReservedSSO"


def team(number: int) -> Json:
    """A team with one share. It names everybody whom it can, and people of IAM Identity Center, who need outputs."""
    return {
        "submitters": [f"{ROLE}/team-{number}-submit", f"{SSO}_Submit{number}_0123456789abcdef"],
        "operators": [f"{ROLE}/team-{number}-operate", f"{SSO}_Operate{number}_0123456789abcdef"],
        "viewers": [f"{ROLE}/team-{number}-view"],
        "execution_roles": [f"{ROLE}/team-{number}-{role}" for role in range(10)],
        "tags": {f"key-{tag}-{'k' * 100}": "v" * 256 for tag in range(40)},
        "shares": {
            f"{number:02}-{'s' * 125}": {
                "capacity": {f"ml.g5.{size}": 2 for size in SIZES},
                "strategy": "LEND_AND_BORROW",
                "borrow_limit": 100,
                "in_share_preemption": True,
                "max_priority": 9999,
            }
        },
    }


LARGEST: Json = {
    "name": "n" * 103,
    "capacity": {f"ml.g5.{size}": 40 for size in SIZES},
    "queue": {
        "time_limits": [
            {"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "after": "30m"},
            {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "after": "1h"},
            {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "after": "12h"},
        ],
        "tags": {f"key-{tag}-{'k' * 100}": "v" * 256 for tag in range(40)},
    },
    "teams": {f"{number:02}-{'t' * 125}": team(number) for number in range(20)},
}

PSEUDO_PARAMETERS = {"AWS::Partition": "aws-us-gov", "AWS::Region": "ap-northeast-1", "AWS::AccountId": "111122223333"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Json:
    folder: Path = tmp_path_factory.mktemp("assembly")
    app = App(outdir=str(folder), analytics_reporting=False, builtin_cloud_formation_validation=False)
    QuotaManagedQueue(Stack(app, "Stack"), "Quota", topology=Topology.model_validate(LARGEST))
    return dict(app.synth().get_stack_by_name("Stack").template)


def test_it_is_the_largest(template: Json):
    types = [resource["Type"] for resource in template["Resources"].values()]
    assert types.count("AWS::Batch::QuotaShare") == 20
    assert types.count("AWS::IAM::ManagedPolicy") == 3 * 20 + 1


def test_there_are_at_most_500_resources_200_outputs_and_200_parameters(template: Json):
    assert len(template["Resources"]) <= 500
    assert len(template["Outputs"]) <= 200
    assert len(template["Parameters"]) <= 200


def test_the_template_is_below_1_mb_as_the_cdk_uploads_it(template: Json):
    assert len(json.dumps(template, indent=1).encode()) < 1_000_000


def test_names_and_descriptions_are_not_too_long(template: Json):
    assert max(map(len, [*template["Resources"], *template["Outputs"], *template["Conditions"]])) <= 255
    assert max(len(output["Description"].encode()) for output in template["Outputs"].values()) <= 1024


def test_alarms_have_names_and_descriptions_that_cloudwatch_takes(template: Json):
    alarms = [each["Properties"] for each in template["Resources"].values() if each["Type"].endswith("::Alarm")]
    assert max(len(alarm["AlarmName"]) for alarm in alarms) <= 255
    assert max(len(alarm["AlarmDescription"]) for alarm in alarms) <= 1024


def test_every_managed_policy_is_within_6144_characters_once_its_arns_are_known(template: Json):
    policies = [
        resource["Properties"]["PolicyDocument"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::IAM::ManagedPolicy"
    ]
    lengths = [len(json.dumps(deployed(policy, template), separators=(",", ":"))) for policy in policies]
    assert 2_000 < max(lengths) <= 6_144


def test_the_name_of_the_dashboard_is_within_255_characters(template: Json):
    (dashboard,) = [each for each in template["Resources"].values() if each["Type"] == "AWS::CloudWatch::Dashboard"]
    assert len(str(deployed(dashboard["Properties"]["DashboardName"], template))) <= 255


def deployed(value: object, template: Json) -> object:
    """A value with the names of a long Region and partition put in, and the ARNs of queue and shares."""
    match value:
        case {"Ref": str(name)}:
            return PSEUDO_PARAMETERS[name]
        case {"Fn::Join": [str(delimiter), list(parts)]}:
            return delimiter.join(str(deployed(part, template)) for part in parts)
        case {"Fn::GetAtt": [str(name), str(attribute)]}:
            properties = template["Resources"][name]["Properties"]
            queue = f"arn:aws-us-gov:batch:ap-northeast-1:111122223333:job-queue/{LARGEST['name']}-queue"
            return f"{queue}/quota-share/{properties['QuotaShareName']}" if attribute == "QuotaShareArn" else queue
        case dict():
            return {key: deployed(each, template) for key, each in value.items()}
        case list():
            return [deployed(each, template) for each in value]
    return value
