from collections.abc import Callable, Sequence
from typing import Any

import pytest
from aws_cdk import CfnOutput, CfnParameter, Duration, Stack, Tags
from aws_cdk import aws_batch as batch

from batch_quota import (
    QuotaShareSchedulingPolicy,
    RunnableReason,
    RunnableTimeLimit,
    SageMakerTrainingQueue,
    ServiceEnvironment,
    State,
)
from policy_engine.topology.service_limits import TIME_LIMIT_REASONS

Properties = Callable[[Stack, str], dict[str, Any]]
Synthesized = Callable[[Stack], dict[str, Any]]
ARN = "arn:aws:batch:eu-west-1:111122223333:job-queue/training"


@pytest.fixture
def environment(stack: Stack) -> ServiceEnvironment:
    return ServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": 3})


@pytest.fixture
def policy(stack: Stack) -> QuotaShareSchedulingPolicy:
    return QuotaShareSchedulingPolicy(stack, "Policy")


def test_a_queue_takes_its_policy_and_environment_by_arn(
    stack: Stack, environment: ServiceEnvironment, policy: QuotaShareSchedulingPolicy, properties: Properties
):
    SageMakerTrainingQueue(
        stack,
        "Queue",
        job_queue_name="training",
        service_environment=environment,
        scheduling_policy=policy,
        priority=10,
        tags={"cost-center": "4711"},
    )
    assert properties(stack, "JobQueue") == {
        "JobQueueName": "training",
        "JobQueueType": "SAGEMAKER_TRAINING",
        "Priority": 10,
        "SchedulingPolicyArn": stack.resolve(policy.scheduling_policy_arn),
        "ServiceEnvironmentOrder": [
            {"Order": 1, "ServiceEnvironment": stack.resolve(environment.service_environment_arn)}
        ],
        "State": "ENABLED",
        "Tags": {"cost-center": "4711"},
    }


def test_a_time_limit_terminates_a_runnable_job_for_one_reason(
    stack: Stack, environment: ServiceEnvironment, policy: QuotaShareSchedulingPolicy, properties: Properties
):
    SageMakerTrainingQueue(
        stack,
        "Queue",
        service_environment=environment,
        scheduling_policy=policy,
        time_limits=[
            RunnableTimeLimit(reason=reason, max_time=Duration.hours(hours))
            for hours, reason in enumerate(RunnableReason, start=1)
        ],
    )
    assert properties(stack, "JobQueue")["JobStateTimeLimitActions"] == [
        {"Action": "TERMINATE", "State": "RUNNABLE", "MaxTimeSeconds": seconds, "Reason": reason}
        for seconds, reason in [
            (3600, "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"),
            (7200, "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"),
            (10800, "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"),
        ]
    ]


def test_the_reasons_of_time_limits_are_those_that_a_topology_may_name():
    assert tuple(RunnableReason) == TIME_LIMIT_REASONS


@pytest.mark.parametrize("priority", [0, 1000])
def test_a_queues_priority_may_be_either_bound(
    stack: Stack,
    environment: ServiceEnvironment,
    policy: QuotaShareSchedulingPolicy,
    properties: Properties,
    priority: int,
):
    SageMakerTrainingQueue(
        stack,
        "Queue",
        service_environment=environment,
        scheduling_policy=policy,
        priority=priority,
        state=State.DISABLED,
    )
    assert (properties(stack, "JobQueue")["Priority"], properties(stack, "JobQueue")["State"]) == (priority, "DISABLED")


def test_a_queue_takes_parameters_for_name_priority_state_and_time_limits(
    stack: Stack, environment: ServiceEnvironment, policy: QuotaShareSchedulingPolicy, properties: Properties
):
    text = {name: CfnParameter(stack, name).value_as_string for name in ("Name", "State", "Reason")}
    number = {name: CfnParameter(stack, name, type="Number").value_as_number for name in ("Priority", "Seconds")}
    SageMakerTrainingQueue(
        stack,
        "Queue",
        job_queue_name=text["Name"],
        service_environment=environment,
        scheduling_policy=policy,
        priority=number["Priority"],
        time_limits=[RunnableTimeLimit(reason=text["Reason"], max_time=Duration.seconds(number["Seconds"]))],
        state=text["State"],
    )
    queue = properties(stack, "JobQueue")
    assert {name: queue[name] for name in ("JobQueueName", "Priority", "State", "JobStateTimeLimitActions")} == {
        "JobQueueName": {"Ref": "Name"},
        "Priority": {"Ref": "Priority"},
        "State": {"Ref": "State"},
        "JobStateTimeLimitActions": [
            {
                "Action": "TERMINATE",
                "MaxTimeSeconds": {"Ref": "Seconds"},
                "Reason": {"Ref": "Reason"},
                "State": "RUNNABLE",
            }
        ],
    }


def test_a_queue_takes_the_stacks_tags_too(
    stack: Stack, environment: ServiceEnvironment, policy: QuotaShareSchedulingPolicy, properties: Properties
):
    SageMakerTrainingQueue(
        stack, "Queue", service_environment=environment, scheduling_policy=policy, tags={"cost-center": "4711"}
    )
    Tags.of(stack).add("owner", "platform")
    assert properties(stack, "JobQueue")["Tags"] == {"cost-center": "4711", "owner": "platform"}


def test_a_queue_exposes_its_arn_and_its_name(
    stack: Stack, environment: ServiceEnvironment, policy: QuotaShareSchedulingPolicy, synthesized: Synthesized
):
    queue = SageMakerTrainingQueue(stack, "Queue", service_environment=environment, scheduling_policy=policy)
    CfnOutput(stack, "Arn", value=queue.job_queue_arn)
    CfnOutput(stack, "Name", value=queue.job_queue_name)
    outputs = synthesized(stack)["Outputs"]
    arn = {"Fn::GetAtt": ["Queue4A7E3555", "JobQueueArn"]}
    assert outputs["Arn"]["Value"] == arn
    assert outputs["Name"]["Value"] == {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}


def test_a_queue_of_another_region_is_named_in_full_if_it_has_a_name(
    stack_in: Callable[[str, str], Stack], synthesized: Synthesized
):
    ireland, frankfurt = stack_in("Ireland", "eu-west-1"), stack_in("Frankfurt", "eu-central-1")
    queue = SageMakerTrainingQueue(
        ireland,
        "Queue",
        job_queue_name="training",
        service_environment=ServiceEnvironment(ireland, "Environment", capacity_limits={"ml.g5.xlarge": 3}),
        scheduling_policy=QuotaShareSchedulingPolicy(ireland, "Policy"),
    )
    CfnOutput(frankfurt, "Arn", value=queue.job_queue_arn)
    CfnOutput(frankfurt, "Name", value=queue.job_queue_name)
    outputs = synthesized(frankfurt)["Outputs"]
    assert outputs["Name"]["Value"] == "training"
    assert outputs["Arn"]["Value"] == {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":batch:eu-west-1:111122223333:job-queue/training"]]
    }


def test_a_queue_stands_for_itself_where_an_l1_takes_a_reference(
    stack: Stack, environment: ServiceEnvironment, policy: QuotaShareSchedulingPolicy
):
    queue = SageMakerTrainingQueue(stack, "Queue", service_environment=environment, scheduling_policy=policy)
    arn = batch.CfnJobQueue.arn_for_job_queue(queue)
    assert stack.resolve(arn) == stack.resolve(queue.job_queue_arn)


def test_an_imported_queue_has_the_name_in_its_arn(stack: Stack):
    queue = SageMakerTrainingQueue.from_job_queue_arn(stack, "Queue", ARN)
    assert (queue.job_queue_arn, queue.job_queue_name, queue.env.region) == (ARN, "training", "eu-west-1")


def test_a_queue_imported_by_name_is_one_of_the_stacks_account_and_region(stack_in: Callable[[str, str], Stack]):
    stack = stack_in("Ireland", "eu-west-1")
    queue = SageMakerTrainingQueue.from_job_queue_name(stack, "Queue", "training")
    assert stack.resolve(queue.job_queue_arn) == {
        "Fn::Join": ["", ["arn:", {"Ref": "AWS::Partition"}, ":batch:eu-west-1:111122223333:job-queue/training"]]
    }
    assert (queue.job_queue_name, queue.job_tag_prefix) == ("training", "training/")


@pytest.mark.parametrize(
    "arn", ["training", f"{ARN}/quota-share/search", ARN.replace("batch", "sqs"), ARN.replace("1111", "")]
)
def test_an_arn_of_something_else_is_refused(stack: Stack, arn: str):
    with pytest.raises(ValueError, match="Stack/Queue") as refusal:
        SageMakerTrainingQueue.from_job_queue_arn(stack, "Queue", arn)
    assert "job_queue_arn: expected arn:PARTITION:batch:REGION:ACCOUNT:job-queue/NAME" in str(refusal.value)


def test_all_problems_of_a_queue_are_told_at_once_with_its_path(stack: Stack, environment: ServiceEnvironment):
    fair_share = batch.FairshareSchedulingPolicy(stack, "FairShare")
    with pytest.raises(ValueError, match="Stack/Queue") as refusal:
        SageMakerTrainingQueue(
            stack,
            "Queue",
            job_queue_name="a/b",
            service_environment=environment,
            scheduling_policy=fair_share,
            priority=1001,
            time_limits=[
                RunnableTimeLimit(reason="QUOTA_MANAGEMENT_LIMIT_EXCEEDED", max_time=Duration.minutes(9)),
                RunnableTimeLimit(
                    reason=RunnableReason.INSUFFICIENT_INSTANCE_CAPACITY, max_time=Duration.millis(1_800_500)
                ),
                RunnableTimeLimit(reason=RunnableReason.INSUFFICIENT_INSTANCE_CAPACITY, max_time=Duration.days(2)),
            ],
            state="enabled",
        )
    reasons = (
        "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY, MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE or "
        "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    )
    assert str(refusal.value).splitlines() == [
        "Stack/Queue is not valid:",
        "  - scheduling_policy: a fair-share policy cannot manage quota shares; use QuotaShareSchedulingPolicy",
        "  - job_queue_name: expected 1 to 128 letters, digits, hyphens and underscores, not 'a/b'",
        "  - priority: expected a whole number from 0 to 1000, not 1001",
        f"  - time_limits: reason: expected {reasons}, not 'QUOTA_MANAGEMENT_LIMIT_EXCEEDED'; "
        "did you mean 'MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED'?",
        "  - time_limits: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY: expected one time limit a reason, not 2",
        "  - time_limits: QUOTA_MANAGEMENT_LIMIT_EXCEEDED: seconds: expected a whole number from 600 to 86400, not 540",
        "  - time_limits: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY: seconds: "
        "expected a whole number from 600 to 86400, not 1800.5",
        "  - time_limits: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY: seconds: "
        "expected a whole number from 600 to 86400, not 172800",
        "  - state: expected ENABLED or DISABLED, not 'enabled'; did you mean 'ENABLED'?",
    ]


def test_a_service_environment_serves_one_queue_only(
    stack: Stack, environment: ServiceEnvironment, policy: QuotaShareSchedulingPolicy
):
    SageMakerTrainingQueue(stack, "Queue", service_environment=environment, scheduling_policy=policy)
    with pytest.raises(ValueError, match="Stack/Second is not valid") as refusal:
        SageMakerTrainingQueue(stack, "Second", service_environment=environment, scheduling_policy=policy)
    assert "service_environment: Stack/Environment serves Stack/Queue already" in str(refusal.value)


def test_a_policy_may_serve_several_queues(stack: Stack, policy: QuotaShareSchedulingPolicy, synthesized: Synthesized):
    for name in ("First", "Second"):
        environment = ServiceEnvironment(stack, f"{name}Environment", capacity_limits={"ml.g5.xlarge": 3})
        SageMakerTrainingQueue(stack, name, service_environment=environment, scheduling_policy=policy)
    queues = [r for r in synthesized(stack)["Resources"].values() if r["Type"] == "AWS::Batch::JobQueue"]
    policies: Sequence[object] = [queue["Properties"]["SchedulingPolicyArn"] for queue in queues]
    assert policies == [stack.resolve(policy.scheduling_policy_arn)] * 2


def test_an_l1_construct_in_place_of_a_part_is_refused_with_how_to_take_it(stack: Stack):
    environment = batch.CfnServiceEnvironment(
        stack, "Environment", service_environment_type="SAGEMAKER_TRAINING", capacity_limits=[]
    )
    policy = batch.CfnSchedulingPolicy(stack, "Policy")
    with pytest.raises(ValueError, match="Stack/Queue is not valid") as refusal:
        SageMakerTrainingQueue(stack, "Queue", service_environment=environment, scheduling_policy=policy)
    assert str(refusal.value).splitlines()[1:] == [
        "  - service_environment: a CfnServiceEnvironment has no service_environment_arn; take the ARN by "
        "ServiceEnvironment.from_service_environment_arn(scope, id, ARN)",
        "  - scheduling_policy: a CfnSchedulingPolicy has no scheduling_policy_arn; take the ARN by "
        "QuotaShareSchedulingPolicy.from_scheduling_policy_arn(scope, id, ARN)",
    ]
    taken = ServiceEnvironment.from_service_environment_arn(stack, "Taken", environment.attr_service_environment_arn)
    SageMakerTrainingQueue(
        stack,
        "Queue",
        service_environment=taken,
        scheduling_policy=QuotaShareSchedulingPolicy.from_scheduling_policy_arn(stack, "TakenPolicy", policy.attr_arn),
    )
