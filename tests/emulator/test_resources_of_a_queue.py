"""Service environments, scheduling policies, job queues and quota shares: their life, orders and limits."""

from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError
from emulated_queue import G5, SETTLED, EmulatedQueue, batch_client, client, limits, training_request

from policy_engine.emulator.testing import Emulator


def refused(call: Callable[[], object]) -> str:
    """The message with which a call is refused."""
    with pytest.raises(ClientError) as caught:
        call()
    assert caught.value.response["Error"]["Code"] == "ClientException"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    return str(caught.value.response["Error"]["Message"])


def environment_of(queue: EmulatedQueue, name: str = "environment") -> dict[str, object]:
    (environment,) = queue.batch.describe_service_environments(serviceEnvironments=[name])["serviceEnvironments"]
    return dict(environment)


def described_queue(queue: EmulatedQueue, name: str = "queue") -> dict[str, object]:
    (described,) = queue.batch.describe_job_queues(jobQueues=[name])["jobQueues"]
    return dict(described)


def test_a_service_environment_is_creating_then_valid(batch_quota: Emulator) -> None:
    queue = EmulatedQueue(batch_quota)
    arn = queue.create_environment("environment", {G5: 3}, tags={"team": "search"})
    assert arn == "arn:aws:batch:us-west-2:123456789012:service-environment/environment"
    assert environment_of(queue) == {
        "serviceEnvironmentName": "environment",
        "serviceEnvironmentArn": arn,
        "serviceEnvironmentType": "SAGEMAKER_TRAINING",
        "state": "ENABLED",
        "status": "CREATING",
        "capacityLimits": [{"maxCapacity": 3, "capacityUnit": G5}],
        "tags": {"team": "search"},
    }
    batch_quota.advance(SETTLED)
    assert environment_of(queue)["status"] == "VALID"


def test_a_queue_is_creating_then_healthy(batch_quota: Emulator) -> None:
    queue = EmulatedQueue(batch_quota)
    policy = queue.create_policy("policy")
    environment = queue.create_environment("environment", {G5: 3})
    batch_quota.advance(SETTLED)
    actions = [
        {
            "reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
            "state": "RUNNABLE",
            "maxTimeSeconds": 600,
            "action": "TERMINATE",
        }
    ]
    queue.create_queue("queue", policy, "environment", jobStateTimeLimitActions=actions, tags={"a": "b"})
    described = described_queue(queue)
    assert (described["status"], "statusReason" in described) == ("CREATING", False)
    batch_quota.advance(SETTLED)
    assert described_queue(queue) == {
        "jobQueueName": "queue",
        "jobQueueArn": "arn:aws:batch:us-west-2:123456789012:job-queue/queue",
        "state": "ENABLED",
        "status": "VALID",
        "statusReason": "JobQueue Healthy",
        "priority": 1,
        "schedulingPolicyArn": policy,
        "computeEnvironmentOrder": [],
        "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": environment}],
        "jobQueueType": "SAGEMAKER_TRAINING",
        "jobStateTimeLimitActions": actions,
        "tags": {"a": "b"},
    }


def test_a_quota_share_is_creating_then_valid(queue: EmulatedQueue) -> None:
    arn = queue.create_share("share", {G5: 2}, "LEND_AND_BORROW", tags={"a": "b"})
    assert arn == "arn:aws:batch:us-west-2:123456789012:job-queue/queue/quota-share/share"
    share = queue.batch.describe_quota_share(quotaShareArn=arn)
    del share["ResponseMetadata"]
    assert share == {
        "quotaShareName": "share",
        "quotaShareArn": arn,
        "jobQueueArn": "arn:aws:batch:us-west-2:123456789012:job-queue/queue",
        "capacityLimits": [{"maxCapacity": 2, "capacityUnit": G5}],
        "resourceSharingConfiguration": {"strategy": "LEND_AND_BORROW", "borrowLimit": -1},
        "preemptionConfiguration": {"inSharePreemption": "DISABLED"},
        "state": "ENABLED",
        "status": "CREATING",
        "tags": {"a": "b"},
    }
    queue.emulator.advance(SETTLED)
    assert queue.batch.describe_quota_share(quotaShareArn=arn)["status"] == "VALID"


def test_a_scheduling_policy_keeps_its_type(queue: EmulatedQueue) -> None:
    (policy,) = queue.batch.list_scheduling_policies()["schedulingPolicies"]
    (described,) = queue.batch.describe_scheduling_policies(arns=[policy["arn"]])["schedulingPolicies"]
    assert described["quotaSharePolicy"] == {"idleResourceAssignmentStrategy": "FIFO"}
    assert "fairsharePolicy" not in described
    message = refused(lambda: queue.batch.update_scheduling_policy(arn=policy["arn"], fairsharePolicy={}))
    assert message == "the type of a scheduling policy cannot be changed"
    fair = queue.batch.create_scheduling_policy(name="fair", fairsharePolicy={"shareDecaySeconds": 60})["arn"]
    fifo = {"idleResourceAssignmentStrategy": "FIFO"}
    message = refused(lambda: queue.batch.update_scheduling_policy(arn=fair, quotaSharePolicy=fifo))
    assert message == "the type of a scheduling policy cannot be changed"
    queue.batch.update_scheduling_policy(arn=fair, fairsharePolicy={"shareDecaySeconds": 90})
    (described,) = queue.batch.describe_scheduling_policies(arns=[fair])["schedulingPolicies"]
    assert described["fairsharePolicy"] == {"shareDecaySeconds": 90}


def test_a_share_is_updated_by_what_is_given_alone(queue: EmulatedQueue) -> None:
    arn = queue.create_share("share", {G5: 2}, "LEND_AND_BORROW", 50, "ENABLED")
    queue.emulator.advance(SETTLED)
    queue.batch.update_quota_share(quotaShareArn=arn, resourceSharingConfiguration={"strategy": "RESERVE"})
    share = queue.batch.describe_quota_share(quotaShareArn=arn)
    assert share["status"] == "UPDATING"
    assert share["resourceSharingConfiguration"] == {"strategy": "RESERVE"}
    assert share["capacityLimits"] == limits({G5: 2})
    assert share["preemptionConfiguration"] == {"inSharePreemption": "ENABLED"}
    queue.emulator.advance(SETTLED)
    assert queue.batch.describe_quota_share(quotaShareArn=arn)["status"] == "VALID"


def test_everything_is_deleted_in_the_order_that_aws_documents(queue: EmulatedQueue) -> None:
    batch, advance = queue.batch, queue.emulator.advance
    (share,) = queue.create_shares("share")
    policy = batch.list_scheduling_policies()["schedulingPolicies"][0]["arn"]
    assert "used by the job queue queue" in refused(lambda: batch.delete_scheduling_policy(arn=policy))
    assert "must be DISABLED" in refused(lambda: batch.delete_quota_share(quotaShareArn=share))
    assert "must be DISABLED" in refused(lambda: batch.delete_job_queue(jobQueue="queue"))
    batch.update_job_queue(jobQueue="queue", state="DISABLED")
    assert "has the quota share share" in refused(lambda: batch.delete_job_queue(jobQueue="queue"))
    batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    batch.delete_quota_share(quotaShareArn=share)
    assert batch.describe_quota_share(quotaShareArn=share)["status"] == "DELETING"
    advance(SETTLED)
    assert "does not exist" in refused(lambda: batch.describe_quota_share(quotaShareArn=share))
    batch.update_service_environment(serviceEnvironment="environment", state="DISABLED")
    in_use = refused(lambda: batch.delete_service_environment(serviceEnvironment="environment"))
    assert "used by the job queue queue" in in_use
    batch.delete_job_queue(jobQueue="queue")
    assert described_queue(queue)["status"] == "DELETING"
    advance(SETTLED)
    assert batch.describe_job_queues(jobQueues=["queue"])["jobQueues"] == []
    batch.delete_scheduling_policy(arn=policy)
    batch.delete_service_environment(serviceEnvironment="environment")
    assert environment_of(queue)["status"] == "DELETING"
    advance(SETTLED)
    assert batch.describe_service_environments()["serviceEnvironments"] == []
    queue.create()
    assert described_queue(queue)["status"] == "VALID"


def test_what_exists_is_not_made_again(queue: EmulatedQueue) -> None:
    """The texts are those that AWS's own utilities look for."""
    queue.create_shares("share")
    policy = queue.batch.list_scheduling_policies()["schedulingPolicies"][0]["arn"]
    assert refused(lambda: queue.create_policy("policy")) == "Object already exists"
    assert refused(lambda: queue.create_environment("environment", {G5: 1})) == "Object already exists"
    assert refused(lambda: queue.create_queue("queue", policy, "environment")) == "Object already exists"
    assert "already exists" in refused(lambda: queue.create_share("share"))


NAMELESS = [
    ("describe_quota_share", {"quotaShareArn": "arn:aws:batch:us-west-2:123456789012:job-queue/q/quota-share/s"}),
    ("update_quota_share", {"quotaShareArn": "arn:aws:batch:us-west-2:123456789012:job-queue/q/quota-share/s"}),
    ("delete_quota_share", {"quotaShareArn": "arn:aws:batch:us-west-2:123456789012:job-queue/q/quota-share/s"}),
    ("list_quota_shares", {"jobQueue": "nobody"}),
    ("list_service_jobs", {"jobQueue": "nobody"}),
    ("get_job_queue_snapshot", {"jobQueue": "nobody"}),
    ("update_service_environment", {"serviceEnvironment": "nobody"}),
    ("delete_service_environment", {"serviceEnvironment": "nobody"}),
    ("delete_scheduling_policy", {"arn": "arn:aws:batch:us-west-2:123456789012:scheduling-policy/nobody"}),
    ("describe_service_job", {"jobId": "nobody"}),
    ("update_service_job", {"jobId": "nobody", "schedulingPriority": 1}),
    ("list_tags_for_resource", {"resourceArn": "arn:aws:batch:us-west-2:123456789012:service-environment/nobody"}),
]


@pytest.mark.parametrize(("operation", "parameters"), NAMELESS)
def test_what_does_not_exist_is_said_not_to(
    batch_quota: Emulator, operation: str, parameters: dict[str, object]
) -> None:
    call = getattr(batch_client(), operation)
    assert refused(lambda: call(**parameters)).endswith("does not exist")


@pytest.mark.parametrize(
    ("capacity", "message"),
    [
        ({}, "1 to 5 entries, not 0"),
        ({f"ml.g5.{size}xlarge": 1 for size in range(6)}, "1 to 5 entries, not 6"),
        ({"g5.xlarge": 1}, "must be an instance type such as ml.g5.xlarge, not 'g5.xlarge'"),
        ({"NUM_INSTANCES": 1, G5: 1}, "cannot have NUM_INSTANCES and instance types"),
        ({G5: -1}, "maxCapacity must be between 0 and"),
    ],
)
def test_a_service_environment_has_one_to_five_limits(
    batch_quota: Emulator, capacity: dict[str, int], message: str
) -> None:
    assert message in refused(lambda: EmulatedQueue(batch_quota).create_environment("environment", capacity))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"capacity": {f"ml.g5.{size}xlarge": 1 for size in range(6)}}, "1 to 5 entries, not 6"),
        ({"capacity": {"NUM_INSTANCES": 1}}, "must be an instance type"),
        ({"capacity": {G5: 0}}, "maxCapacity must be between 1 and"),
        ({"strategy": "LEND", "borrow_limit": 10}, "borrowLimit can only be applied to LEND_AND_BORROW"),
        ({"strategy": "LEND_AND_BORROW", "borrow_limit": -2}, "borrowLimit must be -1 or more"),
        ({"strategy": "BORROW"}, "strategy must be one of RESERVE | LEND | LEND_AND_BORROW, not 'BORROW'"),
        ({"name": "a share"}, "letters, digits, hyphens and underscores, not 'a share'"),
        ({"name": "a" * 129}, "1 to 128 letters"),
    ],
)
def test_a_quota_share_is_within_its_limits(queue: EmulatedQueue, more: dict[str, object], message: str) -> None:
    assert message in refused(lambda: queue.create_share(**{"name": "share", **more}))  # type: ignore[arg-type]
    assert queue.batch.list_quota_shares(jobQueue="queue")["quotaShares"] == []


def test_a_queue_has_twenty_shares_at_most(queue: EmulatedQueue) -> None:
    queue.create_shares(*(f"share-{number}" for number in range(20)))
    assert refused(lambda: queue.create_share("one-more")) == "a job queue has at most 20 quota shares"


def test_shares_wait_for_a_valid_queue(batch_quota: Emulator) -> None:
    queue = EmulatedQueue(batch_quota)
    policy = queue.create_policy("policy")
    queue.create_environment("environment", {G5: 1})
    assert "is not VALID" in refused(lambda: queue.create_queue("queue", policy, "environment"))
    batch_quota.advance(SETTLED)
    queue.create_queue("queue", policy, "environment")
    assert "must be VALID before a quota share can be attached" in refused(lambda: queue.create_share("share"))


def test_a_service_environment_serves_one_queue(queue: EmulatedQueue) -> None:
    policy = queue.create_policy("another")
    message = refused(lambda: queue.create_queue("another", policy, "environment"))
    assert message == "Service environment environment is used by the job queue queue already"


def test_quota_management_needs_instance_types_and_a_quota_share_policy(queue: EmulatedQueue) -> None:
    queue.create_environment("counting", {"NUM_INSTANCES": 5})
    queue.create_environment("another", {G5: 1})
    queue.emulator.advance(SETTLED)
    policy = queue.create_policy("another")
    fair = queue.batch.create_scheduling_policy(name="fair", fairsharePolicy={})["arn"]
    assert "needs instance types" in refused(lambda: queue.create_queue("another", policy, "counting"))
    assert "with a quotaSharePolicy" in refused(lambda: queue.create_queue("another", fair, "another"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"maxTimeSeconds": 599}, "maxTimeSeconds must be between 600 and 86400, not 599"),
        ({"action": "CANCEL"}, "action must be TERMINATE"),
        ({"reason": "MISCONFIGURATION:SOMETHING"}, "reason must be one of CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"),
    ],
)
def test_time_limit_actions_are_checked(queue: EmulatedQueue, change: dict[str, object], message: str) -> None:
    action = {
        "reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
        "state": "RUNNABLE",
        "maxTimeSeconds": 600,
        "action": "TERMINATE",
    }
    call = queue.batch.update_job_queue
    assert message in refused(lambda: call(jobQueue="queue", jobStateTimeLimitActions=[action | change]))


def test_lists_come_in_pages(queue: EmulatedQueue) -> None:
    names = [f"share-{number}" for number in range(5)]
    queue.create_shares(*names)
    first = queue.batch.list_quota_shares(jobQueue="queue", maxResults=2)
    assert [share["quotaShareName"] for share in first["quotaShares"]] == names[:2]
    token = first["nextToken"]
    queue.batch.update_quota_share(quotaShareArn=first["quotaShares"][1]["quotaShareArn"], state="DISABLED")
    queue.batch.delete_quota_share(quotaShareArn=first["quotaShares"][1]["quotaShareArn"])
    queue.emulator.advance(SETTLED)
    rest = queue.batch.list_quota_shares(jobQueue="queue", nextToken=token)
    assert [share["quotaShareName"] for share in rest["quotaShares"]] == names[2:]
    assert "nextToken" not in rest
    assert "nextToken" in refused(lambda: queue.batch.list_quota_shares(jobQueue="queue", nextToken="2"))
    message = refused(lambda: queue.batch.list_quota_shares(jobQueue="queue", maxResults=101))
    assert message == "maxResults must be between 1 and 100, not 101"


def test_tags_are_put_on_all_resources(queue: EmulatedQueue) -> None:
    (share,) = queue.create_shares("share")
    queue.emulator.advance(SETTLED)
    job = queue.job(queue.submit("share", tags={"first": "1"}))
    arns = [
        share,
        job["jobArn"],
        environment_of(queue)["serviceEnvironmentArn"],
        described_queue(queue)["jobQueueArn"],
        described_queue(queue)["schedulingPolicyArn"],
    ]
    for arn in arns:
        queue.batch.tag_resource(resourceArn=arn, tags={"a": "1", "b": "2"})
        queue.batch.untag_resource(resourceArn=arn, tagKeys=["a"])
        assert queue.batch.list_tags_for_resource(resourceArn=arn)["tags"]["b"] == "2"
    assert queue.job(job["jobId"])["tags"] == {"first": "1", "b": "2"}
    many = {str(number): "" for number in range(50)}
    message = refused(lambda: queue.batch.tag_resource(resourceArn=share, tags=many))
    assert message == "a resource has at most 50 tags"


def test_requests_are_held_against_the_model(queue: EmulatedQueue) -> None:
    batch = batch_client(checks_requests=False)
    message = refused(lambda: batch.create_quota_share(jobQueue="queue", state="OPEN"))
    assert 'Missing required parameter in input: "quotaShareName"' in message
    assert 'Missing required parameter in input: "capacityLimits"' in message
    message = refused(
        lambda: batch.create_service_environment(
            serviceEnvironmentName="e", serviceEnvironmentType="ECS", capacityLimits=[], state="OPEN"
        )
    )
    assert message == (
        "serviceEnvironmentType must be one of SAGEMAKER_TRAINING, not 'ECS'; "
        "state must be one of ENABLED | DISABLED, not 'OPEN'"
    )
    assert "Invalid type" in refused(lambda: batch.update_service_job(jobId="1", schedulingPriority="high"))
    message = refused(lambda: batch.update_service_job(jobId="1", schedulingPriority=True))
    assert message == "schedulingPriority must be of type integer, not true"


def test_motos_own_queues_are_as_before(queue: EmulatedQueue) -> None:
    batch = queue.batch
    fair = batch.create_scheduling_policy(name="fair")["arn"]
    assert batch.describe_scheduling_policies(arns=[fair])["schedulingPolicies"][0]["name"] == "fair"
    role = client("iam").create_role(RoleName="role", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    batch.create_compute_environment(computeEnvironmentName="compute", type="UNMANAGED", serviceRole=role)
    batch.create_job_queue(
        jobQueueName="compute-queue",
        priority=1,
        state="ENABLED",
        computeEnvironmentOrder=[{"order": 1, "computeEnvironment": "compute"}],
    )
    names = [each["jobQueueName"] for each in batch.describe_job_queues()["jobQueues"]]
    assert names == ["queue", "compute-queue"]
    message = refused(lambda: batch.list_quota_shares(jobQueue="compute-queue"))
    assert message == "Job queue compute-queue is not of the type SAGEMAKER_TRAINING"


def test_a_queue_can_get_another_environment_policy_and_priority(queue: EmulatedQueue) -> None:
    """What the new environment has counts from then on."""
    queue.create_share("share", {G5: 4})
    queue.create_environment("larger", {G5: 4})
    policy = queue.create_policy("another")
    queue.emulator.advance(SETTLED)
    job = queue.submit("share", serviceRequestPayload=training_request({G5: 4}))
    queue.emulator.advance(10)
    assert queue.job(job)["statusReason"].startswith("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - ")
    queue.batch.update_job_queue(
        jobQueue="queue",
        priority=7,
        schedulingPolicyArn=policy,
        serviceEnvironmentOrder=[{"order": 2, "serviceEnvironment": "larger"}],
    )
    queue.emulator.advance(SETTLED)
    described = described_queue(queue)
    assert (described["priority"], described["schedulingPolicyArn"]) == (7, policy)
    larger = environment_of(queue, "larger")["serviceEnvironmentArn"]
    assert described["serviceEnvironmentOrder"] == [{"order": 2, "serviceEnvironment": larger}]
    assert queue.statuses(job) == ["RUNNING"]
    queue.batch.update_service_environment(serviceEnvironment="environment", state="DISABLED")
    queue.batch.delete_service_environment(serviceEnvironment="environment")


def test_a_refused_update_of_a_queue_changes_nothing(queue: EmulatedQueue) -> None:
    before = described_queue(queue)
    update = queue.batch.update_job_queue
    message = refused(lambda: update(jobQueue="queue", state="DISABLED", priority=1001))
    assert message == "priority must be between 0 and 1000, not 1001"
    unknown = [{"order": 1, "serviceEnvironment": "unknown"}]
    refused(lambda: update(jobQueue="queue", state="DISABLED", serviceEnvironmentOrder=unknown))
    assert described_queue(queue) == before


def test_a_service_environment_keeps_its_kind_of_unit(queue: EmulatedQueue) -> None:
    call = queue.batch.update_service_environment
    message = refused(lambda: call(serviceEnvironment="environment", capacityLimits=limits({"NUM_INSTANCES": 3})))
    assert message == "capacityLimits cannot change between NUM_INSTANCES and instance types"


def test_a_region_has_fifty_service_environments_at_most(batch_quota: Emulator) -> None:
    queue = EmulatedQueue(batch_quota)
    for number in range(50):
        queue.create_environment(f"environment-{number}", {G5: 1})
    message = refused(lambda: queue.create_environment("one-more", {G5: 1}))
    assert message == "an account has at most 50 service environments in a region"
