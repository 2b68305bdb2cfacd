"""Quota management's resources in CloudFormation stacks: made, changed in place, replaced, removed, rolled back."""

import json
from copy import deepcopy
from typing import Any

import pytest
from botocore.exceptions import ClientError
from emulated_queue import G5, client, training_request

from policy_engine.emulator.testing import Emulator

Json = dict[str, Any]

RESOURCES: Json = {
    # What others refer to stands after them: the order is that of references.
    "Share": {
        "Type": "AWS::Batch::QuotaShare",
        "Properties": {
            "QuotaShareName": "share",
            "JobQueue": {"Ref": "Queue"},
            "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": {"Ref": "Most"}}],
            "ResourceSharingConfiguration": {"Strategy": "LEND"},
            "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
            "Tags": {"team": "search"},
        },
    },
    "Queue": {
        "Type": "AWS::Batch::JobQueue",
        "Properties": {
            "JobQueueName": "queue",
            "JobQueueType": "SAGEMAKER_TRAINING",
            "Priority": 1,
            "SchedulingPolicyArn": {"Fn::GetAtt": ["Policy", "Arn"]},
            "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
        },
    },
    "Environment": {
        "Type": "AWS::Batch::ServiceEnvironment",
        "Properties": {
            "ServiceEnvironmentName": "environment",
            "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
            "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 4}],
        },
    },
    "Policy": {
        "Type": "AWS::Batch::SchedulingPolicy",
        "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
    },
}
OUTPUTS = {
    "Share": {"Ref": "Share"},
    "ShareArn": {"Fn::GetAtt": ["Share", "QuotaShareArn"]},
    "Queue": {"Fn::GetAtt": ["Queue", "JobQueueArn"]},
    "Environment": {"Fn::GetAtt": ["Environment", "ServiceEnvironmentArn"]},
}


class Stack:
    """The stack, as it is deployed by change sets: what the CDK CLI does."""

    def __init__(self) -> None:
        self.resources = deepcopy(RESOURCES)
        self.cloudformation = client("cloudformation")
        self.batch = client("batch")

    def change(self, logical_id: str, **properties: object) -> None:
        self.resources[logical_id]["Properties"].update(properties)

    def deploy(self, *, most: int = 2) -> str:
        """The stack's status after it."""
        template = {
            "Parameters": {"Most": {"Type": "Number"}},
            "Resources": self.resources,
            "Outputs": {name: {"Value": value} for name, value in OUTPUTS.items() if name in self.resources},
        }
        kind = "UPDATE" if self.cloudformation.describe_stacks()["Stacks"] else "CREATE"
        self.cloudformation.create_change_set(
            StackName="stack",
            ChangeSetName="changes",
            ChangeSetType=kind,
            TemplateBody=json.dumps(template),
            Parameters=[{"ParameterKey": "Most", "ParameterValue": str(most)}],
        )
        self.cloudformation.execute_change_set(ChangeSetName="changes", StackName="stack")
        self.cloudformation.delete_change_set(ChangeSetName="changes", StackName="stack")
        return str(self.cloudformation.describe_stacks(StackName="stack")["Stacks"][0]["StackStatus"])

    def why_refused(self) -> tuple[str, str]:
        """The logical id of the latest resource that failed, and why."""
        events = self.cloudformation.describe_stack_events(StackName="stack")["StackEvents"]
        failed = [event for event in events if event["ResourceType"].startswith("AWS::Batch::")]
        return failed[0]["LogicalResourceId"], failed[0]["ResourceStatusReason"]

    def queue(self) -> Json:
        (queue,) = self.batch.describe_job_queues()["jobQueues"]
        return dict(queue)

    def share(self) -> Json:
        (share,) = self.batch.list_quota_shares(jobQueue="queue")["quotaShares"]
        return dict(share)

    def environments(self) -> list[Json]:
        return list(self.batch.describe_service_environments()["serviceEnvironments"])

    def left(self) -> list[object]:
        """All that there is of quota management."""
        queues = self.batch.describe_job_queues()["jobQueues"]
        return [*queues, *self.environments(), *self.batch.list_scheduling_policies()["schedulingPolicies"]]


@pytest.fixture
def stack(batch_quota: Emulator) -> Stack:
    """A stack that has been deployed."""
    deployed = Stack()
    assert deployed.deploy() == "CREATE_COMPLETE"
    return deployed


def test_what_a_stack_makes_is_there_and_valid(stack: Stack) -> None:
    queue, share, (environment,) = stack.queue(), stack.share(), stack.environments()
    assert (queue["status"], share["status"], environment["status"]) == ("VALID", "VALID", "VALID")
    assert queue["serviceEnvironmentOrder"][0]["serviceEnvironment"] == environment["serviceEnvironmentArn"]
    assert queue["schedulingPolicyArn"].split("/")[1].startswith("stack-Policy-")
    assert share["capacityLimits"] == [{"maxCapacity": 2, "capacityUnit": G5}]
    assert stack.batch.list_tags_for_resource(resourceArn=share["quotaShareArn"])["tags"] == {"team": "search"}


def test_ref_and_every_attribute_are_the_arn(batch_quota: Emulator) -> None:
    resources = {name: {"Value": value} for name, value in OUTPUTS.items()}
    cloudformation = client("cloudformation")
    template = json.dumps(
        {"Parameters": {"Most": {"Type": "Number", "Default": 1}}, "Resources": RESOURCES, "Outputs": resources}
    )
    cloudformation.create_stack(StackName="stack", TemplateBody=template)
    outputs = cloudformation.describe_stacks()["Stacks"][0]["Outputs"]
    start = "arn:aws:batch:us-west-2:123456789012:"
    assert {each["OutputKey"]: each["OutputValue"].removeprefix(start) for each in outputs} == {
        "Share": "job-queue/queue/quota-share/share",
        "ShareArn": "job-queue/queue/quota-share/share",
        "Queue": "job-queue/queue",
        "Environment": "service-environment/environment",
    }


def test_an_attribute_that_a_type_does_not_have_is_refused(batch_quota: Emulator) -> None:
    template = {
        "Resources": {"Policy": RESOURCES["Policy"]},
        "Outputs": {"No": {"Value": {"Fn::GetAtt": ["Policy", "Name"]}}},
    }
    with pytest.raises(ClientError, match="SchedulingPolicy does not support attribute type Name"):
        client("cloudformation").create_stack(StackName="stack", TemplateBody=json.dumps(template))


def test_a_limit_that_is_raised_in_place_makes_a_waiting_job_eligible(batch_quota: Emulator, stack: Stack) -> None:
    job = stack.batch.submit_service_job(
        jobName="large",
        jobQueue="queue",
        quotaShareName="share",
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=training_request({G5: 3}),
    )["jobId"]

    def status() -> str:
        return str(stack.batch.describe_service_job(jobId=job)["status"])

    batch_quota.advance("1m")
    assert status() == "RUNNABLE"
    assert stack.deploy(most=3) == "UPDATE_COMPLETE"
    batch_quota.advance("1s")
    assert status() == "RUNNING"
    batch_quota.run_until_idle()
    assert status() == "SUCCEEDED"


def test_properties_are_changed_in_place(stack: Stack) -> None:
    arns = (stack.queue()["jobQueueArn"], stack.share()["quotaShareArn"])
    stack.change("Queue", Priority=7, Tags={"a": "b"})
    stack.change(
        "Share",
        ResourceSharingConfiguration={"Strategy": "LEND_AND_BORROW", "BorrowLimit": 50},
        PreemptionConfiguration={"InSharePreemption": "ENABLED"},
        State="DISABLED",
        Tags={},
    )
    stack.change("Environment", CapacityLimits=[{"CapacityUnit": G5, "MaxCapacity": 9}])
    assert stack.deploy() == "UPDATE_COMPLETE"
    queue, share, (environment,) = stack.queue(), stack.share(), stack.environments()
    assert (queue["jobQueueArn"], share["quotaShareArn"]) == arns
    assert (queue["priority"], queue["tags"], share["state"]) == (7, {"a": "b"}, "DISABLED")
    assert share["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 50}
    assert share["preemptionConfiguration"] == {"inSharePreemption": "ENABLED"}
    assert stack.batch.list_tags_for_resource(resourceArn=share["quotaShareArn"])["tags"] == {}
    assert environment["capacityLimits"] == [{"maxCapacity": 9, "capacityUnit": G5}]


def test_another_name_is_another_resource_and_the_old_one_is_removed(stack: Stack) -> None:
    stack.change("Environment", ServiceEnvironmentName="other")
    stack.change("Share", QuotaShareName="renamed")
    stack.change("Policy", Name="named")
    assert stack.deploy() == "UPDATE_COMPLETE"
    (environment,) = stack.environments()
    assert environment["serviceEnvironmentName"] == "other"
    # The queue's own words did not change, but what they refer to did.
    assert stack.queue()["serviceEnvironmentOrder"][0]["serviceEnvironment"] == environment["serviceEnvironmentArn"]
    assert stack.queue()["schedulingPolicyArn"].endswith("scheduling-policy/named")
    assert stack.share()["quotaShareName"] == "renamed"
    assert len(stack.batch.list_scheduling_policies()["schedulingPolicies"]) == 1


def test_what_a_replacement_would_leave_is_kept_if_the_template_says_so(stack: Stack) -> None:
    stack.change("Environment", ServiceEnvironmentName="other")
    stack.resources["Environment"]["UpdateReplacePolicy"] = "Retain"
    assert stack.deploy() == "UPDATE_COMPLETE"
    assert [each["serviceEnvironmentName"] for each in stack.environments()] == ["environment", "other"]


def test_a_resource_that_leaves_the_template_is_removed_unless_it_is_retained(stack: Stack) -> None:
    stack.resources["Kept"] = deepcopy(stack.resources["Share"])
    stack.change("Kept", QuotaShareName="kept")
    stack.resources["Kept"]["DeletionPolicy"] = "Retain"
    assert stack.deploy() == "UPDATE_COMPLETE"
    del stack.resources["Kept"], stack.resources["Share"]
    assert stack.deploy() == "UPDATE_COMPLETE"
    assert stack.share()["quotaShareName"] == "kept"


def test_a_stack_that_is_deleted_leaves_nothing_and_ends_its_jobs(batch_quota: Emulator, stack: Stack) -> None:
    job = stack.batch.submit_service_job(
        jobName="job",
        jobQueue="queue",
        quotaShareName="share",
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=training_request({G5: 1}),
    )["jobId"]
    batch_quota.advance("1m")
    stack.cloudformation.delete_stack(StackName="stack")
    assert stack.left() == []
    batch_quota.advance("5m")
    assert stack.batch.describe_service_job(jobId=job)["status"] == "FAILED"


def test_a_stack_that_cannot_be_made_says_why_and_leaves_nothing(batch_quota: Emulator) -> None:
    stack = Stack()
    stack.change("Share", ResourceSharingConfiguration={"Strategy": "LEND", "BorrowLimit": 5})
    assert stack.deploy() == "ROLLBACK_COMPLETE"
    name, why = stack.why_refused()
    assert (name, why) == ("Share", "borrowLimit can only be applied to LEND_AND_BORROW, not to LEND")
    assert stack.left() == []


def test_an_update_that_is_refused_leaves_all_as_it_was(stack: Stack) -> None:
    before = (stack.queue(), stack.share(), stack.environments())
    stack.change("Environment", CapacityLimits=[{"CapacityUnit": G5, "MaxCapacity": 9}])
    stack.change("Policy", Name="replaced")
    stack.change("Queue", Priority=3)
    stack.change("Share", CapacityLimits=[{"CapacityUnit": "NUM_INSTANCES", "MaxCapacity": 1}])
    assert stack.deploy() == "UPDATE_ROLLBACK_COMPLETE"
    assert stack.why_refused()[0] == "Share"
    assert (stack.queue(), stack.share(), stack.environments()) == before
    assert len(stack.batch.list_scheduling_policies()["schedulingPolicies"]) == 1
    stack.resources = deepcopy(RESOURCES)
    assert stack.deploy(most=4) == "UPDATE_COMPLETE"
    assert stack.share()["capacityLimits"][0]["maxCapacity"] == 4


def test_a_replacement_that_would_have_the_same_name_is_refused_in_cloudformation_s_words(stack: Stack) -> None:
    stack.change("Queue", JobQueueType="EKS")
    assert stack.deploy() == "UPDATE_ROLLBACK_COMPLETE"
    name, why = stack.why_refused()
    assert name == "Queue"
    assert why.startswith("CloudFormation cannot update a stack when a custom-named resource requires replacing.")


def test_properties_are_held_against_the_api_s_model(batch_quota: Emulator) -> None:
    stack = Stack()
    stack.change("Environment", ServiceEnvironmentType="EKS")
    assert stack.deploy() == "ROLLBACK_COMPLETE"
    assert stack.why_refused() == ("Environment", "serviceEnvironmentType must be one of SAGEMAKER_TRAINING, not 'EKS'")


def test_moto_s_own_queues_are_still_moto_s(batch_quota: Emulator) -> None:
    template = {
        "Resources": {
            "Queue": {
                "Type": "AWS::Batch::JobQueue",
                "Properties": {"JobQueueName": "containers", "Priority": 1, "ComputeEnvironmentOrder": []},
            }
        }
    }
    cloudformation = client("cloudformation")
    cloudformation.create_stack(StackName="stack", TemplateBody=json.dumps(template))
    events = cloudformation.describe_stack_events(StackName="stack")["StackEvents"]
    reasons = [event.get("ResourceStatusReason") for event in events]
    assert "At least 1 compute environment must be provided" in reasons
    assert cloudformation.describe_stacks()["Stacks"][0]["StackStatus"] == "ROLLBACK_COMPLETE"


def test_a_managed_policy_follows_the_template_and_goes_with_the_stack(batch_quota: Emulator) -> None:
    iam, cloudformation = client("iam"), client("cloudformation")
    for name in ("first", "second"):
        iam.create_role(RoleName=name, AssumeRolePolicyDocument='{"Statement": []}')

    def template(action: str, role: str, **more: str) -> str:
        statement = {"Effect": "Allow", "Action": action, "Resource": "*"}
        document = {"Version": "2012-10-17", "Statement": [statement]}
        properties = {"PolicyDocument": document, "Roles": [role], **more}
        return json.dumps({"Resources": {"Policy": {"Type": "AWS::IAM::ManagedPolicy", "Properties": properties}}})

    def policy_of(role: str) -> tuple[str, str]:
        """The name of the role's only policy, and what it allows."""
        (attached,) = iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]
        arn = attached["PolicyArn"]
        version = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
        document = iam.get_policy_version(PolicyArn=arn, VersionId=version)["PolicyVersion"]["Document"]
        return attached["PolicyName"], document["Statement"][0]["Action"]

    cloudformation.create_stack(StackName="stack", TemplateBody=template("batch:SubmitServiceJob", "first"))
    name, action = policy_of("first")
    assert action == "batch:SubmitServiceJob"
    for number in range(7):  # IAM keeps five versions
        cloudformation.update_stack(StackName="stack", TemplateBody=template(f"batch:Action{number}", "second"))
    assert iam.list_attached_role_policies(RoleName="first")["AttachedPolicies"] == []
    assert policy_of("second") == (name, "batch:Action6")
    renamed = template("batch:List*", "second", ManagedPolicyName="named")
    cloudformation.update_stack(StackName="stack", TemplateBody=renamed)
    assert policy_of("second") == ("named", "batch:List*")
    cloudformation.delete_stack(StackName="stack")
    assert iam.list_attached_role_policies(RoleName="second")["AttachedPolicies"] == []
    assert iam.list_policies(Scope="Local")["Policies"] == []
