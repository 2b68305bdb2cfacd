"""An emulator of its own process with a long queue, and the calls that clients make of it."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import boto3

COMMAND = Path(sys.executable).with_name("batch-quota")
QUEUE = "queue"
SHARES = tuple(f"share-{number}" for number in range(20))
G5 = "ml.g5.xlarge"
SETTLING = "0"
RUNTIME = "30m"
SUBMITTERS = 4


@contextmanager
def emulator() -> Iterator[str]:
    """The endpoint of an emulator that runs in real time."""
    options = ("--port", "0", "--settling", SETTLING, "--runtime", RUNTIME)
    with subprocess.Popen(
        [COMMAND, "emulate", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the emulator says nothing")
            yield process.stdout.readline().strip().partition("=")[2]
        finally:
            process.kill()


def batch_client(endpoint: str) -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
    """A client of AWS Batch, as any program has it."""
    session = boto3.Session("testing", "testing", region_name="us-west-2")
    return session.client("batch", endpoint_url=endpoint)


def fill(endpoint: str, jobs: int) -> list[str]:
    """A queue with 20 shares of three instances each, in all three strategies, and so many jobs. Their ids."""
    batch = batch_client(endpoint)
    strategy = {"idleResourceAssignmentStrategy": "FIFO"}
    policy = batch.create_scheduling_policy(name="policy", quotaSharePolicy=strategy)["arn"]
    batch.create_service_environment(
        serviceEnvironmentName="environment",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=[{"maxCapacity": 3 * len(SHARES), "capacityUnit": G5}],
    )
    batch.create_job_queue(
        jobQueueName=QUEUE,
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
    )
    for share, sharing in zip(SHARES, cycle(("RESERVE", "LEND", "LEND_AND_BORROW")), strict=False):
        batch.create_quota_share(
            quotaShareName=share,
            jobQueue=QUEUE,
            capacityLimits=[{"maxCapacity": 3, "capacityUnit": G5}],
            resourceSharingConfiguration={"strategy": sharing},
            preemptionConfiguration={"inSharePreemption": "ENABLED"},
        )
    clients = [batch_client(endpoint) for _ in range(SUBMITTERS)]

    def submit_every_fourth(first: int) -> list[str]:
        return [submit(clients[first], number) for number in range(first, jobs, SUBMITTERS)]

    with ThreadPoolExecutor(SUBMITTERS) as pool:
        return [job for some in pool.map(submit_every_fourth, range(SUBMITTERS)) for job in some]


def submit(batch: Any, number: int) -> str:  # noqa: ANN401
    """Submit one job; its id."""
    config = {"InstanceType": G5, "InstanceCount": 1, "VolumeSizeInGB": 30}
    answer = batch.submit_service_job(
        jobName=f"job-{number}",
        jobQueue=QUEUE,
        quotaShareName=SHARES[number % len(SHARES)],
        serviceJobType="SAGEMAKER_TRAINING",
        schedulingPriority=number % 5,
        serviceRequestPayload=json.dumps({"TrainingJobName": "job", "ResourceConfig": config}),
    )
    return str(answer["jobId"])


def calls(batch: Any, jobs: list[str]) -> Mapping[str, Callable[[int], object]]:  # noqa: ANN401
    """What clients do with a queue, by operation; each takes the number of the call."""
    middle = len(jobs) // 2
    updated, terminated = jobs[middle::2], jobs[middle + 1 :: 2]
    return {
        "SubmitServiceJob": lambda number: submit(batch, number),
        "DescribeServiceJob": lambda number: batch.describe_service_job(jobId=jobs[number * 37 % len(jobs)]),
        "ListServiceJobs": lambda _number: batch.list_service_jobs(jobQueue=QUEUE),
        "ListServiceJobs RUNNABLE": lambda _number: batch.list_service_jobs(jobQueue=QUEUE, jobStatus="RUNNABLE"),
        "UpdateServiceJob": lambda number: batch.update_service_job(
            jobId=updated[number % len(updated)], schedulingPriority=5 + number % 5
        ),
        "TerminateServiceJob": lambda number: batch.terminate_service_job(
            jobId=terminated[number % len(terminated)], reason="enough"
        ),
        "GetJobQueueSnapshot": lambda _number: batch.get_job_queue_snapshot(jobQueue=QUEUE),
    }
