"""AWS's own clients, unmodified and as processes of their own, against `batch-quota emulate`: AWS CLI, SageMaker SDK.

`make clients` installs them into a virtual environment of their own.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from emulator_process import PATIENCE, emulate

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
CLIENTS = HERE.parents[1] / ".cache" / "clients" / "bin"
QUEUE = "my-sm-training-qm-jq"
TYPE = "ml.g5.xlarge"
SHARES = {
    "QS1": ({"strategy": "LEND_AND_BORROW", "borrowLimit": 200}, "ENABLED"),
    "QS2": ({"strategy": "LEND"}, "DISABLED"),
    "QS3": ({"strategy": "RESERVE"}, "DISABLED"),
}
TRUST = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}


class Clients:
    """The clients, with the environment that makes them talk to an emulator."""

    def __init__(self, endpoint: str) -> None:
        given = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTHON"))}
        self._environment = given | {
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-west-2",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_PAGER": "",
        }

    def run(self, *command: str) -> str:
        """What a program prints that ended well."""
        program = str(CLIENTS / command[0])
        run = subprocess.run(
            [program, *command[1:]], env=self._environment, capture_output=True, text=True, check=False, timeout=300
        )
        assert run.returncode == 0, run.stderr
        return run.stdout

    def aws(self, *arguments: str, **options: object) -> dict[str, Any]:
        """The answer to a command of the AWS CLI. Options that are no text are given as JSON."""
        given = [
            word
            for name, value in options.items()
            for word in (
                f"--{name.replace('_', '-')}",
                value if isinstance(value, str) else json.dumps(value),
            )
        ]
        printed = self.run("aws", *arguments, *given, "--output", "json")
        return dict(json.loads(printed)) if printed.strip() else {}

    def await_valid(self, what: str, key: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while self.aws("batch", what)[key][0]["status"] != "VALID":
            assert time.monotonic() < deadline


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    """An emulator with the notebook's resources, made by the AWS CLI."""
    assert (CLIENTS / "aws").exists(), "run `make clients` first"
    with emulate("--speed", "600") as (endpoint, _):
        made = Clients(endpoint)
        policy = made.aws(
            "batch",
            "create-scheduling-policy",
            name="my-qm-scheduling-policy",
            quota_share_policy={"idleResourceAssignmentStrategy": "FIFO"},
        )
        made.aws(
            "batch",
            "create-service-environment",
            service_environment_name="my-sm-training-qm-se",
            service_environment_type="SAGEMAKER_TRAINING",
            capacity_limits=[{"maxCapacity": 3, "capacityUnit": TYPE}],
        )
        made.await_valid("describe-service-environments", "serviceEnvironments")
        made.aws(
            "batch",
            "create-job-queue",
            job_queue_name=QUEUE,
            job_queue_type="SAGEMAKER_TRAINING",
            priority="1",
            scheduling_policy_arn=policy["arn"],
            service_environment_order=[{"order": 1, "serviceEnvironment": "my-sm-training-qm-se"}],
        )
        made.await_valid("describe-job-queues", "jobQueues")
        for name, (sharing, in_share_preemption) in SHARES.items():
            made.aws(
                "batch",
                "create-quota-share",
                quota_share_name=name,
                job_queue=QUEUE,
                capacity_limits=[{"maxCapacity": 1, "capacityUnit": TYPE}],
                resource_sharing_configuration=sharing,
                preemption_configuration={"inSharePreemption": in_share_preemption},
            )
        document = {"Version": "2012-10-17", "Statement": [TRUST]}
        made.aws("iam", "create-role", role_name="training", assume_role_policy_document=document)
        yield made


def test_the_sagemaker_sdk_goes_through_the_notebook(clients: Clients) -> None:
    seen = json.loads(clients.run("python", str(HERE / "sagemaker_sdk.py"), QUEUE).splitlines()[-1])
    assert seen == {
        "running in QS1": ["qs1-job-high", "qs1-job-med"],
        "after the claim of QS2": {
            "qs1_job_high": "RUNNING",
            "qs1_job_med": "RUNNABLE",
            "qs1_job_low": "RUNNABLE",
            "qs2_job_1": "RUNNING",
        },
        "preempted by it": 1,
        "after the update": {
            "qs1_job_high": "RUNNABLE",
            "qs1_job_med": "RUNNABLE",
            "qs1_job_low": "RUNNING",
            "qs2_job_1": "RUNNING",
        },
        "training job": "InProgress",
        "the terminated job says": "not needed any more",
        "waited for": "SUCCEEDED",
    }


def test_the_aws_cli_submits_lists_describes_and_terminates(clients: Clients) -> None:
    request = {
        "TrainingJobName": "by-cli",
        "ResourceConfig": {"InstanceType": TYPE, "InstanceCount": 1},
        "Environment": {"BATCH_QUOTA_RUNTIME": "100h"},
    }
    job = clients.aws(
        "batch",
        "submit-service-job",
        job_name="by-cli",
        job_queue=QUEUE,
        quota_share_name="QS3",
        service_job_type="SAGEMAKER_TRAINING",
        service_request_payload=json.dumps(request),
        preemption_configuration={"preemptionRetriesBeforeTermination": 2},
    )["jobId"]
    named = [{"name": "JOB_NAME", "values": ["by-cli"]}]
    (listed,) = clients.aws("batch", "list-service-jobs", job_queue=QUEUE, filters=named)["jobSummaryList"]
    assert listed["jobId"] == job
    deadline = time.monotonic() + PATIENCE
    while clients.aws("batch", "describe-service-job", job_id=job)["status"] != "RUNNING":
        assert time.monotonic() < deadline
    training = clients.aws("sagemaker", "list-training-jobs", name_contains="by-cli")["TrainingJobSummaries"]
    assert [each["TrainingJobStatus"] for each in training] == ["InProgress"]
    assert "QS3" in clients.aws("batch", "get-job-queue-snapshot", job_queue=QUEUE)["frontOfQuotaShares"]["quotaShares"]
    clients.aws("batch", "terminate-service-job", job_id=job, reason="done")
    while clients.aws("batch", "describe-service-job", job_id=job)["status"] != "FAILED":
        assert time.monotonic() < deadline
    assert clients.aws("batch", "describe-service-job", job_id=job)["statusReason"] == "done"
