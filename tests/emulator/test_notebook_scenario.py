"""The three steps of AWS's example notebook for quota management, with its names, through boto3.

Source: v3-examples/training-examples/aws_batch/sm-training-queues_quota-management.ipynb in aws/sagemaker-python-sdk.
"""

import json

import pytest
from botocore.client import BaseClient
from emulated_queue import batch_client

from policy_engine.emulator.testing import Emulator

TYPE = "ml.g5.xlarge"
QUEUE = "my-sm-training-qm-jq"
SHARES = {
    "QS1": ({"strategy": "LEND_AND_BORROW", "borrowLimit": 200}, "ENABLED"),
    "QS2": ({"strategy": "LEND"}, "DISABLED"),
    "QS3": ({"strategy": "RESERVE"}, "DISABLED"),
}
REQUEST = {
    "TrainingJobName": "hello-world",
    "RoleArn": "arn:aws:iam::123456789012:role/training",
    "OutputDataConfig": {"S3OutputPath": "s3://bucket/output"},
    "AlgorithmSpecification": {
        "TrainingImage": "123456789012.dkr.ecr.us-west-2.amazonaws.com/pytorch:2",
        "TrainingInputMode": "File",
        "ContainerEntrypoint": ["/bin/bash", "-c", "echo 'Hello World'"],
    },
    "ResourceConfig": {"InstanceType": TYPE, "InstanceCount": 1, "VolumeSizeInGB": 30},
    "StoppingCondition": {"MaxRuntimeInSeconds": 300},
}


@pytest.fixture
def batch(batch_quota: Emulator) -> BaseClient:
    """A client, with the notebook's resources."""
    client = batch_client()
    policy = client.create_scheduling_policy(
        name="my-qm-scheduling-policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
    )
    client.create_service_environment(
        serviceEnvironmentName="my-sm-training-qm-se",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"maxCapacity": 3, "capacityUnit": TYPE}],
    )
    batch_quota.advance("5s")
    client.create_job_queue(
        jobQueueName=QUEUE,
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "my-sm-training-qm-se"}],
    )
    batch_quota.advance("5s")
    for name, (sharing, in_share_preemption) in SHARES.items():
        client.create_quota_share(
            quotaShareName=name,
            jobQueue=QUEUE,
            capacityLimits=[{"maxCapacity": 1, "capacityUnit": TYPE}],
            resourceSharingConfiguration=sharing,
            preemptionConfiguration={"inSharePreemption": in_share_preemption},
        )
    batch_quota.advance("5s")
    return client


def submit(batch: BaseClient, name: str, share: str, priority: int) -> str:
    answer = batch.submit_service_job(
        jobName=name,
        jobQueue=QUEUE,
        quotaShareName=share,
        schedulingPriority=priority,
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(REQUEST),
        retryStrategy={"attempts": 1, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "*"}]},
        timeoutConfig={"attemptDurationSeconds": 86_400},
    )
    return str(answer["jobId"])


def test_the_notebook_goes_as_it_says(batch_quota: Emulator, batch: BaseClient) -> None:
    def statuses() -> dict[str, str]:
        return {name: batch.describe_service_job(jobId=job)["status"] for name, job in jobs.items()}

    jobs = {
        "qs1_job_high": submit(batch, "qs1_job_high", "QS1", 3),
        "qs1_job_med": submit(batch, "qs1_job_med", "QS1", 2),
        "qs1_job_low": submit(batch, "qs1_job_low", "QS1", 1),
    }
    batch_quota.advance("5s")
    assert statuses() == {"qs1_job_high": "RUNNING", "qs1_job_med": "RUNNING", "qs1_job_low": "RUNNABLE"}

    jobs["qs2_job_1"] = submit(batch, "qs2_job_1", "QS2", 1)
    batch_quota.advance("125s")
    assert statuses() == {
        "qs1_job_high": "RUNNING",
        "qs1_job_med": "RUNNABLE",
        "qs1_job_low": "RUNNABLE",
        "qs2_job_1": "RUNNING",
    }
    victim = batch.describe_service_job(jobId=jobs["qs1_job_med"])
    assert victim["preemptionSummary"]["preemptedAttemptCount"] == 1
    assert victim["attempts"] == []

    batch.update_service_job(jobId=jobs["qs1_job_low"], schedulingPriority=4)
    batch_quota.advance("125s")
    assert statuses() == {
        "qs1_job_high": "RUNNABLE",
        "qs1_job_med": "RUNNABLE",
        "qs1_job_low": "RUNNING",
        "qs2_job_1": "RUNNING",
    }
    snapshot = batch.get_job_queue_snapshot(jobQueue=QUEUE)
    (front,) = snapshot["frontOfQuotaShares"]["quotaShares"]["QS1"]
    assert front["jobArn"].endswith(jobs["qs1_job_high"])
    assert snapshot["queueUtilization"]["totalCapacityUsage"] == [{"capacityUnit": TYPE, "quantity": 2.0}]

    batch_quota.run_until_idle()
    assert set(statuses().values()) == {"SUCCEEDED"}
