from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import CfnOutput, CfnParameter, Stack, Tags
from aws_cdk import aws_batch as batch

from batch_quota import QuotaShareSchedulingPolicy

Properties = Callable[[Stack, str], dict[str, Any]]
ARN = "arn:aws:batch:eu-west-1:111122223333:scheduling-policy/fifo"


def test_a_policy_is_a_quota_share_policy_with_the_one_strategy_that_aws_offers(stack: Stack, properties: Properties):
    QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name="fifo", tags={"cost-center": "4711"})
    assert properties(stack, "SchedulingPolicy") == {
        "Name": "fifo",
        "QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"},
        "Tags": {"cost-center": "4711"},
    }


def test_cloudformation_names_a_policy_that_has_no_name(stack: Stack, properties: Properties):
    QuotaShareSchedulingPolicy(stack, "Policy")
    assert "Name" not in properties(stack, "SchedulingPolicy")


def test_a_policy_takes_a_parameter_for_its_name(stack: Stack, properties: Properties):
    name = CfnParameter(stack, "PolicyName").value_as_string
    QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name=name)
    assert properties(stack, "SchedulingPolicy")["Name"] == {"Ref": "PolicyName"}


def test_a_policy_takes_the_stacks_tags_too(stack: Stack, properties: Properties):
    QuotaShareSchedulingPolicy(stack, "Policy", tags={"cost-center": "4711"})
    Tags.of(stack).add("owner", "platform")
    assert properties(stack, "SchedulingPolicy")["Tags"] == {"cost-center": "4711", "owner": "platform"}


def test_a_policy_exposes_its_arn_and_its_name(stack: Stack, synthesized: Callable[[Stack], dict[str, Any]]):
    policy = QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name="fifo")
    CfnOutput(stack, "Arn", value=policy.scheduling_policy_arn)
    CfnOutput(stack, "Name", value=policy.scheduling_policy_name)
    template = synthesized(stack)
    (logical_id,) = template["Resources"]
    arn = {"Fn::GetAtt": [logical_id, "Arn"]}
    assert template["Outputs"] == {
        "Arn": {"Value": arn},
        "Name": {"Value": {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}},
    }


def test_a_policy_goes_into_an_l1_job_queue_as_it_is(stack: Stack, properties: Properties):
    policy = QuotaShareSchedulingPolicy(stack, "Policy")
    batch.CfnJobQueue(stack, "Queue", priority=1, scheduling_policy_arn=policy)
    assert properties(stack, "JobQueue")["SchedulingPolicyArn"] == {"Fn::GetAtt": ["Policy23B91518", "Arn"]}


def test_an_imported_policy_has_the_name_in_its_arn(stack: Stack):
    policy = QuotaShareSchedulingPolicy.from_scheduling_policy_arn(stack, "Policy", ARN)
    assert (policy.scheduling_policy_arn, policy.scheduling_policy_name) == (ARN, "fifo")
    assert policy.env.region == "eu-west-1"


@pytest.mark.parametrize(
    "arn", ["fifo", "arn:aws:batch:eu-west-1:111122223333:job-queue/fifo", f"{ARN}/quota-share/x", ""]
)
def test_an_arn_of_something_else_is_refused(stack: Stack, arn: str):
    with pytest.raises(ValueError, match="Stack/Policy is not valid") as refusal:
        QuotaShareSchedulingPolicy.from_scheduling_policy_arn(stack, "Policy", arn)
    assert "expected arn:PARTITION:batch:REGION:ACCOUNT:scheduling-policy/NAME" in str(refusal.value)


def test_all_problems_of_a_policy_are_told_at_once_with_its_path(stack: Stack):
    with pytest.raises(ValueError, match="Stack/Policy") as refusal:
        QuotaShareSchedulingPolicy(
            stack,
            "Policy",
            scheduling_policy_name="no spaces",
            idle_resource_assignment_strategy="fifo",
            tags={"aws:reserved": "x"},
        )
    assert str(refusal.value) == "\n".join(
        [
            "Stack/Policy is not valid:",
            "  - scheduling_policy_name: expected 1 to 128 letters, digits, hyphens and underscores, not 'no spaces'",
            "  - idle_resource_assignment_strategy: expected FIFO, not 'fifo'; did you mean 'FIFO'?",
            "  - tags: 'aws:reserved': keys that start with aws: are reserved",
        ]
    )


def test_a_refused_policy_leaves_nothing_in_the_stack(stack: Stack):
    with pytest.raises(ValueError, match="scheduling_policy_name"):
        QuotaShareSchedulingPolicy(stack, "Policy", scheduling_policy_name="")
    assert stack.node.children == []


@pytest.mark.parametrize(
    ("tags", "problem"),
    [
        ({f"key-{n}": "" for n in range(51)}, "tags: expected at most 50, not 51"),
        ({"": "x"}, "tags: expected a key of 1 to 128 characters, not 0: ''"),
        ({"k" * 129: "x"}, "tags: expected a key of 1 to 128 characters, not 129: 'kkkkkkkkkkkkkkkkkkkk'"),
        ({"key": "v" * 257}, "tags: 'key': expected a value of up to 256 characters, not 257"),
        ({"AWS:x": "v"}, "tags: 'AWS:x': keys that start with aws: are reserved"),
    ],
)
def test_tags_over_the_limits_of_aws_are_refused(stack: Stack, tags: dict[str, str], problem: str):
    with pytest.raises(ValueError, match="Stack/Policy") as refusal:
        QuotaShareSchedulingPolicy(stack, "Policy", tags=tags)
    assert str(refusal.value).endswith(f"  - {problem}")
