from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import CfnOutput, CfnParameter, Stack, Tags
from aws_cdk import aws_batch as batch

from batch_quota import ServiceEnvironment, State

Properties = Callable[[Stack, str], dict[str, Any]]
ARN = "arn:aws-us-gov:batch:us-gov-west-1:111122223333:service-environment/gpus"
ONE_TYPE = {"ml.g5.xlarge": 3}


def test_an_environment_has_one_capacity_limit_an_instance_type(stack: Stack, properties: Properties):
    ServiceEnvironment(
        stack,
        "Environment",
        service_environment_name="gpus",
        capacity_limits={"ml.g5.xlarge": 16, "ml.p5.48xlarge": 1},
        tags={"cost-center": "4711"},
    )
    assert properties(stack, "ServiceEnvironment") == {
        "ServiceEnvironmentName": "gpus",
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "CapacityLimits": [
            {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 16},
            {"CapacityUnit": "ml.p5.48xlarge", "MaxCapacity": 1},
        ],
        "State": "ENABLED",
        "Tags": {"cost-center": "4711"},
    }


@pytest.mark.parametrize("state", list(State))
def test_an_environment_is_enabled_or_disabled(stack: Stack, properties: Properties, state: State):
    ServiceEnvironment(stack, "Environment", capacity_limits=ONE_TYPE, state=state)
    assert properties(stack, "ServiceEnvironment")["State"] == state


def test_an_environment_takes_parameters_for_name_instance_type_limit_and_state(stack: Stack, properties: Properties):
    text = {name: CfnParameter(stack, name).value_as_string for name in ("Name", "Unit", "State")}
    limit = CfnParameter(stack, "Limit", type="Number").value_as_number
    ServiceEnvironment(
        stack,
        "Environment",
        service_environment_name=text["Name"],
        capacity_limits={text["Unit"]: limit},
        state=text["State"],
    )
    assert properties(stack, "ServiceEnvironment") == {
        "ServiceEnvironmentName": {"Ref": "Name"},
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "CapacityLimits": [{"CapacityUnit": {"Ref": "Unit"}, "MaxCapacity": {"Ref": "Limit"}}],
        "State": {"Ref": "State"},
    }


def test_an_environment_takes_the_stacks_tags_too(stack: Stack, properties: Properties):
    ServiceEnvironment(stack, "Environment", capacity_limits=ONE_TYPE, tags={"cost-center": "4711"})
    Tags.of(stack).add("owner", "platform")
    assert properties(stack, "ServiceEnvironment")["Tags"] == {"cost-center": "4711", "owner": "platform"}


def test_an_environment_exposes_its_arn_its_name_and_its_limits(
    stack: Stack, synthesized: Callable[[Stack], dict[str, Any]]
):
    environment = ServiceEnvironment(stack, "Environment", capacity_limits=ONE_TYPE)
    CfnOutput(stack, "Arn", value=environment.service_environment_arn)
    CfnOutput(stack, "Name", value=environment.service_environment_name)
    template = synthesized(stack)
    (logical_id,) = template["Resources"]
    arn = {"Fn::GetAtt": [logical_id, "ServiceEnvironmentArn"]}
    assert template["Outputs"]["Arn"]["Value"] == arn
    assert template["Outputs"]["Name"]["Value"] == {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}
    assert environment.capacity_limits == ONE_TYPE


def test_an_imported_environment_has_the_name_in_its_arn(stack: Stack):
    environment = ServiceEnvironment.from_service_environment_arn(stack, "Environment", ARN)
    assert (environment.service_environment_arn, environment.service_environment_name) == (ARN, "gpus")


def test_an_imported_environment_may_be_known_at_deployment_only(
    stack: Stack, synthesized: Callable[[Stack], dict[str, Any]]
):
    arn = CfnParameter(stack, "EnvironmentArn").value_as_string
    environment = ServiceEnvironment.from_service_environment_arn(stack, "Environment", arn)
    CfnOutput(stack, "Name", value=environment.service_environment_name)
    assert synthesized(stack)["Outputs"]["Name"]["Value"] == {
        "Fn::Select": [1, {"Fn::Split": ["/", {"Ref": "EnvironmentArn"}]}]
    }


def test_an_environment_stands_for_itself_where_an_l1_takes_a_reference(stack: Stack):
    environment = ServiceEnvironment(stack, "Environment", capacity_limits=ONE_TYPE)
    arn = batch.CfnServiceEnvironment.arn_for_service_environment(environment)
    assert stack.resolve(arn) == stack.resolve(environment.service_environment_arn)


@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        ({}, "capacity_limits: expected 1 to 5 instance types, not 0"),
        (
            [("ml.g5.xlarge", 4)],
            "capacity_limits: expected numbers by instance type, such as {'ml.g5.xlarge': 4}, "
            "not [('ml.g5.xlarge', 4)]",
        ),
        (
            {f"ml.g5.{size}": 1 for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "24xlarge")},
            "capacity_limits: expected 1 to 5 instance types, not 6",
        ),
        (
            {"NUM_INSTANCES": 4},
            "capacity_limits: NUM_INSTANCES counts all types together; quota management needs instance types",
        ),
        (
            {"g5.xlarge": 4},
            "capacity_limits: 'g5.xlarge' is no instance type of SageMaker Training; did you mean 'ml.g5.xlarge'?",
        ),
        (
            {"quantum": 4},
            "capacity_limits: 'quantum' is no instance type of SageMaker Training; botocore may be too old to know it",
        ),
        ({"ml.g5.xlarge": 0}, "capacity_limits: ml.g5.xlarge: expected a whole number from 1 up, not 0"),
        ({"ml.g5.xlarge": 1.5}, "capacity_limits: ml.g5.xlarge: expected a whole number from 1 up, not 1.5"),
        ({"ml.g5.xlarge": True}, "capacity_limits: ml.g5.xlarge: expected a whole number from 1 up, not True"),
        ({"ml.g5.xlarge": float("nan")}, "capacity_limits: ml.g5.xlarge: expected a whole number from 1 up, not nan"),
        ({"ml.g5.xlarge": float("inf")}, "capacity_limits: ml.g5.xlarge: expected a whole number from 1 up, not inf"),
    ],
)
def test_capacity_that_quota_management_cannot_use_is_refused(stack: Stack, limits: dict[str, float], problem: str):
    with pytest.raises(ValueError, match="Stack/Environment") as refusal:
        ServiceEnvironment(stack, "Environment", capacity_limits=limits)
    assert str(refusal.value) == f"Stack/Environment is not valid:\n  - {problem}"


def test_all_problems_of_an_environment_are_told_at_once(stack: Stack):
    with pytest.raises(ValueError, match="Stack/Environment") as refusal:
        ServiceEnvironment(
            stack, "Environment", service_environment_name="x" * 129, capacity_limits={"ml.g5.xlarge": -1}, state="OFF"
        )
    assert [line.split(":")[0] for line in str(refusal.value).splitlines()[1:]] == [
        "  - capacity_limits",
        "  - service_environment_name",
        "  - state",
    ]
