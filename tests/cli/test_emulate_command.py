"""`batch-quota emulate`, as a process of its own that boto3 talks to."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from botocore.config import Config
from emulated_queue import G5, client, limits, training_request
from emulator_process import COMMAND, PATIENCE, emulate
from remote_queue import RemoteQueue


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """One emulator for all tests of this module that only talk to it."""
    with emulate("--speed", "3600", "--runtime", "30m") as (endpoint, process):
        yield endpoint
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0


def test_boto3_runs_a_job_against_it(endpoint: str) -> None:
    assert endpoint.startswith("http://localhost:")
    batch = client("batch", endpoint_url=endpoint, config=Config(retries={"total_max_attempts": 1}))

    def wait_until(status: str, describe: str, answer: str, **what: object) -> None:
        deadline = time.monotonic() + PATIENCE
        while (seen := getattr(batch, describe)(**what)[answer]) != status:
            listed = seen[0].get("status") if isinstance(seen, list) else None
            if listed == status:
                return
            assert time.monotonic() < deadline, f"still {seen}"
            time.sleep(0.01)

    policy = batch.create_scheduling_policy(name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
    batch.create_service_environment(
        serviceEnvironmentName="environment",
        serviceEnvironmentType="SAGEMAKER_TRAINING",
        capacityLimits=limits({G5: 1}),
    )
    wait_until("VALID", "describe_service_environments", "serviceEnvironments")
    batch.create_job_queue(
        jobQueueName="queue",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
    )
    wait_until("VALID", "describe_job_queues", "jobQueues")
    share = batch.create_quota_share(
        quotaShareName="share",
        jobQueue="queue",
        capacityLimits=limits({G5: 1}),
        resourceSharingConfiguration={"strategy": "RESERVE"},
        preemptionConfiguration={"inSharePreemption": "DISABLED"},
    )["quotaShareArn"]
    wait_until("VALID", "describe_quota_share", "status", quotaShareArn=share)
    batch.tag_resource(resourceArn=share, tags={"team": "search"})
    assert batch.list_tags_for_resource(resourceArn=share)["tags"] == {"team": "search"}
    job = batch.submit_service_job(
        jobName="job",
        jobQueue="queue",
        quotaShareName="share",
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=training_request(),
    )["jobId"]
    wait_until("SUCCEEDED", "describe_service_job", "status", jobId=job)
    described = batch.describe_service_job(jobId=job)
    assert described["stoppedAt"] - described["startedAt"] == 30 * 60 * 1000
    with pytest.raises(batch.exceptions.ClientException, match="does not exist"):
        batch.describe_service_job(jobId="nobody")


def test_it_listens_where_nobody_else_can_reach_it_unless_told_to(endpoint: str) -> None:
    """It answers at 127.0.0.1, and at none of the other addresses that this machine has by its name."""
    port = int(endpoint.rpartition(":")[2])
    addresses = {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), port, socket.AF_INET)}
    assert answering(addresses | {"127.0.0.1"}, port) == {"127.0.0.1"}


def answering(addresses: set[str], port: int) -> set[str]:
    """Those of the addresses at which a connection can be made."""
    found = set()
    for address in addresses:
        with suppress(OSError), socket.create_connection((address, port), timeout=5):
            found.add(address)
    return found


def test_whoever_opens_it_to_others_is_warned() -> None:
    with emulate("--host", "0.0.0.0") as (endpoint, process):  # noqa: S104 (what the warning is about)
        assert endpoint.startswith("http://0.0.0.0:")
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0
        assert said.endswith(
            "warning: everybody who can reach 0.0.0.0 can use it\nserving; Ctrl-C ends it, and forgets everything\n"
        )


def test_a_port_that_is_taken_is_said_to_be() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        run = subprocess.run([COMMAND, "emulate", "--port", port], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (f"error: cannot listen at 127.0.0.1:{port}: Address already in use; --port names another\n")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--speed", "0"), "0.0 is not in the range x>0"),
        (("--runtime", "long"), "expected a duration such as 90s"),
        (("--assume", "nothing=1"), "there is no switch 'nothing'"),
        (("--port", "70000"), "70000 is not in the range"),
        (("--throttle", "0"), "0 is not in the range x>=1"),
        (("--unavailable", "ml.g5.xlarge"), "expected an instance type and a duration, such as ml.p5.48xlarge=30m"),
        (("--unavailable", "ml.g5.xlarge=0"), "expected a duration of more than 0"),
    ],
)
def test_options_that_make_no_sense_are_explained(options: tuple[str, ...], message: str) -> None:
    environment = {**os.environ, "COLUMNS": "200"}
    run = subprocess.run([COMMAND, "emulate", *options], capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 2
    assert message in run.stderr


@pytest.mark.slow
def test_a_state_file_that_is_none_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "notes.txt"
    state.write_text("some notes\n")
    run = subprocess.run(
        [COMMAND, "emulate", "--port", "0", "--state", state.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert "notes.txt:1:1" in run.stderr
    assert "not a state file of the emulator" in run.stderr
    assert state.read_text() == "some notes\n"


@pytest.mark.slow
def test_the_faults_of_its_options_happen_to_its_clients() -> None:
    with emulate("--throttle", "3", "--unavailable", f"{G5}=1h", "--settling", "0") as (endpoint, _):
        queue = RemoteQueue(endpoint, attempts=9)
        queue.create({"share": 1})
        retries: list[int] = []
        queue.batch.meta.events.register(
            "after-call.batch.SubmitServiceJob",
            lambda parsed, **_: retries.append(parsed["ResponseMetadata"]["RetryAttempts"]),
        )
        jobs = [queue.submit("share", f"job-{number}") for number in range(6)]
        assert sum(retries) > 0
        assert [queue.job(job)["status"] for job in jobs] == ["SCHEDULED", *["RUNNABLE"] * 5]


def test_without_moto_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "moto.py").write_text("raise ImportError('No module named moto')\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([COMMAND, "emulate"], capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 2
    assert run.stderr == (
        "error: No module named moto; the emulator comes with `pip install 'batch-quota[emulator]'`\n"
    )
