"""A server that ended, however it did, goes on where it was: from the calls in its state file."""

import errno
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from emulated_queue import G5, client, training_request
from moto.moto_api._internal.models import moto_api_backend

from policy_engine.assumptions import Assumptions
from policy_engine.diagnostics import InputError
from policy_engine.emulator.clock import RunningClock
from policy_engine.emulator.faults import Outage, Throttle
from policy_engine.emulator.server import serving
from policy_engine.emulator.settings import Settings

ROLE = {"Version": "2012-10-17", "Statement": []}
STACK = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}


class Server:
    """A server in this process, with clients for it."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://localhost:{port}"
        self.batch = self.client("batch")

    def client(self, service: str) -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
        config = Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"})
        return client(service, endpoint_url=self.endpoint, config=config)

    def submit(self, share: str, name: str = "job") -> str:
        answer = self.batch.submit_service_job(
            jobName=name,
            jobQueue="queue",
            quotaShareName=share,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=training_request(),
        )
        return str(answer["jobId"])

    def statuses(self, *jobs: str) -> list[str]:
        return [self.batch.describe_service_job(jobId=job)["status"] for job in jobs]


@contextmanager
def server(
    state: Path,
    *,
    notes: list[str] | None = None,
    outages: tuple[Outage, ...] = (),
    settings: Callable[[RunningClock], Settings] = lambda clock: Settings(clock=clock, settling=0),
) -> Iterator[Server]:
    note = (notes if notes is not None else []).append
    moto_api_backend.reset()  # a server is a process of its own, with nothing in it
    clock = RunningClock()
    with serving(settings(clock), clock, "127.0.0.1", 0, state=state, outages=outages, note=note) as port:
        yield Server(port)


def create_queue(server: Server) -> None:
    batch = server.batch
    policy = batch.create_scheduling_policy(name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
    limits = [{"maxCapacity": 2, "capacityUnit": G5}]
    batch.create_service_environment(
        serviceEnvironmentName="environment", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=limits
    )
    batch.create_job_queue(
        jobQueueName="queue",
        jobQueueType="SAGEMAKER_TRAINING",
        priority=1,
        schedulingPolicyArn=policy["arn"],
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "environment"}],
    )
    batch.create_quota_share(
        quotaShareName="share",
        jobQueue="queue",
        capacityLimits=[{"maxCapacity": 1, "capacityUnit": G5}],
        resourceSharingConfiguration={"strategy": "RESERVE"},
        preemptionConfiguration={"inSharePreemption": "DISABLED"},
    )


def shown(server: Server, jobs: list[str]) -> dict[str, Any]:
    """What can be seen of many services."""
    described = [server.batch.describe_service_job(jobId=job) for job in jobs]
    answers = {
        "jobs": described,
        "shares": server.batch.list_quota_shares(jobQueue="queue"),
        "roles": server.client("iam").list_roles(),
        "stacks": server.client("cloudformation").describe_stacks(),
        "resources": server.client("cloudformation").describe_stack_resources(StackName="stack"),
        "objects": server.client("s3").list_objects_v2(Bucket="bucket"),
        "object": server.client("s3").get_object(Bucket="bucket", Key="a key/\N{SNOWMAN}")["Body"].read(),
    }
    return dict(json.loads(json.dumps(answers, default=repr_but_of_times), object_hook=without_metadata))


def without_metadata(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name != "ResponseMetadata"}


def repr_but_of_times(value: object) -> str:
    """Times of moto's own resources are kept to the length of a call."""
    return "a time" if isinstance(value, datetime) else repr(value)


def test_everything_is_as_it_was_after_a_restart_with_its_identifiers_and_times(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    with server(state) as first:
        create_queue(first)
        jobs = [first.submit("share"), first.submit("share")]
        first.client("iam").create_role(RoleName="role", AssumeRolePolicyDocument=json.dumps(ROLE))
        first.client("cloudformation").create_stack(StackName="stack", TemplateBody=json.dumps(STACK))
        s3 = first.client("s3")
        s3.create_bucket(Bucket="bucket", CreateBucketConfiguration={"LocationConstraint": "us-west-2"})
        s3.put_object(Bucket="bucket", Key="a key/\N{SNOWMAN}", Body=bytes(range(256)))
        while first.statuses(*jobs) != ["RUNNING", "RUNNABLE"]:
            pass
        before = shown(first, jobs)
    ended = datetime.now(UTC)
    notes: list[str] = []
    with server(state, notes=notes) as second:
        assert shown(second, jobs) == before
        assert second.client("iam").get_role(RoleName="role")["Role"]["CreateDate"] < ended
        third = second.submit("share")
        assert third not in jobs
    assert notes == [f"making {4 + 2 + 2 + 2} calls of {state} again"]
    with server(state) as again:
        assert again.statuses(*jobs) == ["RUNNING", "RUNNABLE"]
        assert again.batch.describe_service_job(jobId=third)["jobId"] == third
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert "Credential=testing/" in state.read_text()
    assert not re.search(r"Signature=\w|amz-security-token", state.read_text(), re.IGNORECASE)


def test_a_message_of_an_event_that_was_taken_stays_taken(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    with server(state) as first:
        create_queue(first)
        sqs, events = first.client("sqs"), first.client("events")
        url = sqs.create_queue(QueueName="heard")["QueueUrl"]
        arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        events.put_rule(Name="rule", EventPattern='{"source": ["aws.batch"]}', State="ENABLED")
        events.put_targets(Rule="rule", Targets=[{"Id": "1", "Arn": arn}])
        job = first.submit("share")
        taken: list[str] = []
        while len(taken) < 4:
            for message in sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", []):
                taken.append(json.loads(message["Body"])["detail"]["status"])
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        assert taken == ["RUNNABLE", "SCHEDULED", "STARTING", "RUNNING"]
    with server(state) as second:
        assert second.statuses(job) == ["RUNNING"]
        assert "Messages" not in second.client("sqs").receive_message(QueueUrl=url, WaitTimeSeconds=0)


def test_a_call_that_only_reads_is_not_kept(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    with server(state) as first:
        first.batch.describe_job_queues()
        first.client("iam").list_roles()
        first.client("s3").list_buckets()
        first.client("sagemaker").list_training_jobs()
        assert len(state.read_text().splitlines()) == 2
        with pytest.raises(ClientError):
            first.batch.delete_service_environment(serviceEnvironment="none")
        assert len(state.read_text().splitlines()) == 3  # refused, and for moto's sake kept


def test_jobs_run_on_while_no_server_does(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    with server(state) as first:
        create_queue(first)
        job = first.submit("share")
    hour_ago(state)
    with server(state) as second:
        assert second.statuses(job) == ["SUCCEEDED"]


def hour_ago(state: Path) -> None:
    """Everything in a state file happened an hour before."""

    def earlier(entry: dict[str, Any]) -> dict[str, Any]:
        return {name: value - 3_600_000 if name in {"at", "now"} else value for name, value in entry.items()}

    lines = [json.dumps(earlier(json.loads(line))) + "\n" for line in state.read_text().splitlines()]
    state.write_text("".join(lines))


def test_outages_and_refused_submissions_are_the_same_again(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    outage = Outage(unit=G5, since=0, until=60_000)
    with server(state, outages=(outage,), settings=throttled) as first:
        create_queue(first)
        jobs = [first.submit("share"), first.submit("share")]
        with pytest.raises(ClientError, match="Too Many Requests"):
            jobs.extend(first.submit("share") for _ in range(9))
        while first.statuses(jobs[0]) == ["SUBMITTED"]:
            pass
        assert first.statuses(jobs[0]) == ["SCHEDULED"]
    with server(state, settings=throttled) as second:
        assert second.statuses(*jobs) == ["SCHEDULED", *["RUNNABLE"] * (len(jobs) - 1)]


def throttled(clock: RunningClock) -> Settings:
    return Settings(clock=clock, settling=0, throttle=Throttle(2, clock.waited))


def unusable(state: Path, **settings: Any) -> str:  # noqa: ANN401 (any of the settings)
    kept_with = {"settling": 0, **settings}
    with pytest.raises(InputError) as caught, server(state, settings=lambda clock: Settings(clock=clock, **kept_with)):
        pass
    return str(caught.value)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A state file with a header, a start and one call."""
    state = tmp_path_factory.mktemp("state") / "emulator.state"
    with server(state) as first:
        first.client("iam").create_role(RoleName="role", AssumeRolePolicyDocument=json.dumps(ROLE))
    return state.read_text()


def test_a_half_written_last_line_is_dropped_with_a_note(tmp_path: Path, kept: str) -> None:
    state = tmp_path / "emulator.state"
    state.write_text(kept + kept.splitlines()[-1][:-1])
    notes: list[str] = []
    with server(state, notes=notes) as second:
        assert [role["RoleName"] for role in second.client("iam").list_roles()["Roles"]] == ["role"]
    assert notes[0] == f"{state}: a half-written last line is dropped: nobody had an answer to that call"
    assert all(json.loads(line) for line in state.read_text().splitlines())


def test_an_empty_file_is_a_new_one(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    state.touch()
    with server(state):
        assert len(state.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("some notes\n", ":1:1: error emulator-state: not a state file of the emulator"),
        ("no line end", ":1:1: error emulator-state: not a state file of the emulator"),
        ('{"format": "batch-quota emulator state", "version": 2}\n', "the file has version 2; this batch-quota reads"),
    ],
)
def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path, text: str, message: str) -> None:
    state = tmp_path / "emulator.state"
    state.write_text(text)
    assert message in unusable(state)
    assert state.read_text() == text


def test_a_line_that_was_changed_is_found(tmp_path: Path, kept: str) -> None:
    state = tmp_path / "emulator.state"
    header, started, call = kept.splitlines()
    state.write_text(f"{header}\n{started}\n{call[:40]}\n{call}\n")
    assert ":3:1: error emulator-state: not a line of a state file" in unusable(state)
    state.write_text(f"{header}\n{started}\n{call}\n{call}\n")
    assert ":4:1: error emulator-state: POST / was answered with status 200, and is now with 409" in unusable(state)
    state.write_text(f"{header}\n{call}\n")
    assert ":2:1: error emulator-state: the line that says how the clock runs is missing" in unusable(state)


def test_a_file_is_for_one_emulator_and_one_set_of_options(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    with server(state):
        assert "another emulator keeps its state in this file" in unusable(state)
    assert "other --runtime and other --settling" in unusable(state, default_runtime=1, settling=1)
    assert "other assumptions" in unusable(state, assumptions=Assumptions.model_validate({"stop_seconds": 7}))


def test_no_call_is_answered_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "emulator.state"
    with server(state) as first:
        size = state.stat().st_size
        monkeypatch.setattr(os, "fsync", full_disk)
        for _ in range(2):
            with pytest.raises(ClientError) as caught:
                create_queue(first)
            assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 503
        assert state.stat().st_size == size


def full_disk(_file: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
