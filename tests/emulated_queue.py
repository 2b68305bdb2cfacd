"""A quota-managed queue in the emulator, made and used by boto3 as users make and use one."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import boto3
from botocore.config import Config

from policy_engine.emulator.testing import Emulator

G5 = "ml.g5.xlarge"
SETTLED = 1
"""Seconds after which what was created is VALID."""


def batch_client(*, checks_requests: bool = True) -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
    """A client for AWS Batch; one that does not check requests leaves that to the service."""
    return _session().client("batch", config=Config(parameter_validation=checks_requests))


def client(service: str, **more: object) -> Any:  # noqa: ANN401
    """A client for a service."""
    return _session().client(service, **more)


@cache
def _session() -> boto3.Session:
    """One for all tests: it reads the models of services once."""
    return boto3.Session("testing", "testing", region_name="us-west-2")


def limits(capacity: Mapping[str, int]) -> list[dict[str, Any]]:
    """Capacity limits as the API takes them."""
    return [{"maxCapacity": most, "capacityUnit": unit} for unit, most in capacity.items()]


def training_request(need: Mapping[str, int] | None = None, **more: object) -> str:
    """The payload of a training job; of one instance if nothing is said."""
    entries = [{"InstanceType": unit, "InstanceCount": count} for unit, count in (need or {G5: 1}).items()]
    config = entries[0] if len(entries) == 1 else {"InstanceGroups": entries}
    return json.dumps({"TrainingJobName": "job", "ResourceConfig": config, **more})


@dataclass
class EmulatedQueue:
    """The queue `queue` on the service environment `environment`, with the scheduling policy `policy`."""

    emulator: Emulator
    capacity: Mapping[str, int] = field(default_factory=lambda: {G5: 3})
    time_limits: list[dict[str, Any]] = field(default_factory=list)
    batch: Any = field(default_factory=batch_client)

    def create(self) -> "EmulatedQueue":
        policy = self.create_policy("policy")
        self.create_environment("environment", self.capacity)
        self.emulator.advance(SETTLED)
        self.create_queue("queue", policy, "environment", jobStateTimeLimitActions=self.time_limits)
        self.emulator.advance(SETTLED)
        return self

    def create_policy(self, name: str) -> str:
        strategy = {"idleResourceAssignmentStrategy": "FIFO"}
        return str(self.batch.create_scheduling_policy(name=name, quotaSharePolicy=strategy)["arn"])

    def create_environment(self, name: str, capacity: Mapping[str, int], **more: object) -> str:
        answer = self.batch.create_service_environment(
            serviceEnvironmentName=name,
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            capacityLimits=limits(capacity),
            **more,
        )
        return str(answer["serviceEnvironmentArn"])

    def create_queue(self, name: str, policy: str, environment: str, **more: object) -> str:
        answer = self.batch.create_job_queue(
            jobQueueName=name,
            jobQueueType="SAGEMAKER_TRAINING",
            priority=1,
            schedulingPolicyArn=policy,
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": environment}],
            **more,
        )
        return str(answer["jobQueueArn"])

    def create_share(
        self,
        name: str,
        capacity: Mapping[str, int] | None = None,
        strategy: str = "RESERVE",
        borrow_limit: int | None = None,
        in_share_preemption: str = "DISABLED",
        **more: object,
    ) -> str:
        sharing = {"strategy": strategy} | ({} if borrow_limit is None else {"borrowLimit": borrow_limit})
        answer = self.batch.create_quota_share(
            quotaShareName=name,
            jobQueue="queue",
            capacityLimits=limits(capacity or {G5: 1}),
            resourceSharingConfiguration=sharing,
            preemptionConfiguration={"inSharePreemption": in_share_preemption},
            **more,
        )
        return str(answer["quotaShareArn"])

    def create_shares(self, *names: str) -> list[str]:
        """RESERVE shares of one instance each, VALID."""
        arns = [self.create_share(name) for name in names]
        self.emulator.advance(SETTLED)
        return arns

    def submit(self, share: str, name: str = "job", **more: object) -> str:
        request = {"serviceRequestPayload": training_request(), **more}
        answer = self.batch.submit_service_job(
            jobName=name, jobQueue="queue", quotaShareName=share, serviceJobType="SAGEMAKER_TRAINING", **request
        )
        return str(answer["jobId"])

    def job(self, job_id: str) -> dict[str, Any]:
        return dict(self.batch.describe_service_job(jobId=job_id))

    def statuses(self, *job_ids: str) -> list[str]:
        return [self.job(job_id)["status"] for job_id in job_ids]

    def listed(self, **selection: object) -> list[str]:
        """Names of jobs in the order in which they are listed."""
        return [job["jobName"] for job in self.batch.list_service_jobs(jobQueue="queue", **selection)["jobSummaryList"]]
