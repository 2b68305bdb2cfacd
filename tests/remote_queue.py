"""A quota-managed queue in an emulator that is another process."""

import json
from collections.abc import Mapping
from typing import Any

from botocore.config import Config
from emulated_queue import G5, client, limits, training_request

STATUSES = ("SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")


class RemoteQueue:
    """The queue `queue` of an emulator at an endpoint, whose resources are VALID at once."""

    def __init__(self, endpoint: str, *, attempts: int = 1) -> None:
        retries = {"mode": "standard", "total_max_attempts": attempts}
        config = Config(retries=retries, parameter_validation=False)
        self.batch: Any = client("batch", endpoint_url=endpoint, config=config)

    def create(self, shares: Mapping[str, int]) -> None:
        """LEND_AND_BORROW shares of so many instances, which preempt within them too, on as many in all."""
        batch = self.batch
        strategy = {"idleResourceAssignmentStrategy": "FIFO"}
        policy = batch.create_scheduling_policy(name="policy", quotaSharePolicy=strategy)
        batch.create_service_environment(
            serviceEnvironmentName="environment",
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=limits({G5: sum(shares.values())}),
        )
        batch.create_job_queue(
            jobQueueName="queue",
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy["arn"],
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
        )
        for share, instances in shares.items():
            batch.create_quota_share(
                quotaShareName=share,
                jobQueue="queue",
                capacityLimits=limits({G5: instances}),
                resourceSharingConfiguration={"strategy": "LEND_AND_BORROW"},
                preemptionConfiguration={"inSharePreemption": "ENABLED"},
            )

    def submit(self, share: str, name: str, runtime: str = "5m", **more: object) -> str:
        answer = self.batch.submit_service_job(
            jobName=name,
            jobQueue="queue",
            quotaShareName=share,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=training_request(Environment={"BATCH_QUOTA_RUNTIME": runtime}),
            **more,
        )
        return str(answer["jobId"])

    def job(self, job_id: str) -> dict[str, Any]:
        return dict(json.loads(json.dumps(self.batch.describe_service_job(jobId=job_id))))

    def listed(self, status: str) -> list[str]:
        """The ids of all jobs with a status, page by page."""
        pages = self.batch.get_paginator("list_service_jobs").paginate(jobQueue="queue", jobStatus=status)
        return [job["jobId"] for page in pages for job in page["jobSummaryList"]]

    def all_jobs(self) -> list[str]:
        """The ids of all jobs, in no order."""
        return [job for status in STATUSES for job in self.listed(status)]
