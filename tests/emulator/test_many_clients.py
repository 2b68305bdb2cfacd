"""Twenty clients at once: what they see is right, and what comes of it is the replay of their calls."""

import json
import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from emulated_queue import training_request
from emulator_process import PATIENCE, emulate
from moto.batch import models as batch_models
from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_api._internal.models import moto_api_backend
from remote_queue import STATUSES, RemoteQueue

from policy_engine.emulator.clock import RunningClock
from policy_engine.emulator.schedule import Schedule
from policy_engine.emulator.server import serving
from policy_engine.emulator.settings import Settings
from policy_engine.emulator.submissions import Submission, Submissions
from policy_engine.scheduler import replay
from policy_engine.topology import Queue, QuotaShare, ResourceSharingStrategy, Team, Topology
from policy_engine.trace import NONE, ControlEvent, Terminate, UpdatePriority

CLIENTS = 20
JOBS_OF_EACH = 6
WAITING = 10_000
G5 = "ml.g5.xlarge"
SHARES = {"a": 1, "b": 2, "c": 3}


def use(endpoint: str, number: int) -> dict[str, str]:
    """Submit, describe, list, reprioritize and terminate, as a client does that trusts only its own answers."""
    queue, chance, jobs = RemoteQueue(endpoint), random.Random(number), {}  # noqa: S311 (a test)
    for index in range(JOBS_OF_EACH):
        name = f"job-{number}-{index}"
        job = queue.submit(
            chance.choice(list(SHARES)), name, f"{chance.randint(1, 900)}s", schedulingPriority=index % 4
        )
        jobs[name] = job
        assert queue.job(job)["jobName"] == name
        other = chance.choice(list(jobs.values()))
        with suppress(queue.batch.exceptions.ClientException):  # it has ended
            queue.batch.update_service_job(jobId=other, schedulingPriority=chance.randint(0, 9))
        if index % 4 == 3:
            queue.batch.terminate_service_job(jobId=other, reason="enough")
            assert queue.job(other)["isTerminated"] or queue.job(other)["status"] in {"SUCCEEDED", "FAILED"}
        filters = [{"name": "JOB_NAME", "values": [f"job-{number}-*"]}]
        listed = queue.batch.list_service_jobs(jobQueue="queue", filters=filters)["jobSummaryList"]
        assert [each["jobId"] for each in reversed(listed)] == list(jobs.values())
    return jobs


def replayed(state: Path, job_of: Mapping[str, str], before: Submissions | None = None, until: int = 0) -> Schedule:
    """The replay of all calls that a state file has, after the jobs that were there `before`, up to `until`."""
    calls = [call for line in state.read_text().splitlines() if (call := json.loads(line)).get("status") == 200]
    start = next(call["now"] for call in calls if call["request"]["PATH_INFO"] == "/v1/createjobqueue")
    submissions, events = before or Submissions(start), list[ControlEvent]()
    for call in calls:
        at, body = call["now"], json.loads(call["body"]) if call["body"].startswith("{") else {}
        match call["request"]["PATH_INFO"].removeprefix("/v1/"):
            case "submitservicejob":
                submissions.add(job_of[body["jobName"]], submission(body, at))
            case "updateservicejob":
                events.append(UpdatePriority(at=at - start, job=body["jobId"], priority=body["schedulingPriority"]))
            case "terminateservicejob":
                events.append(Terminate(at=at - start, job=body["jobId"]))
    share = {
        name: QuotaShare(capacity={G5: n}, strategy=STRATEGY, in_share_preemption=True) for name, n in SHARES.items()
    }
    teams = {"all": Team(shares=share)}
    topology = Topology(name="q", capacity={G5: sum(SHARES.values())}, queue=Queue(), teams=teams)
    last = until - start - 1 if until else None
    return Schedule(replay(topology, submissions.as_trace(), events=events, until=last, use_compiled=True), start)


STRATEGY = ResourceSharingStrategy.LEND_AND_BORROW


def submission(body: Mapping[str, str | int], at: int) -> Submission:
    runtime = json.loads(str(body["serviceRequestPayload"]))["Environment"]["BATCH_QUOTA_RUNTIME"]
    return Submission(
        share=str(body["quotaShareName"]),
        at=at,
        need={G5: 1},
        runtime=int(runtime.removesuffix("s")) * 1000,
        priority=int(body["schedulingPriority"]),
        preemption_retries=NONE,
        checkpoint=NONE,
        attempt_timeout=NONE,
        fails=False,
    )


@pytest.mark.slow
def test_twenty_clients_at_once_see_what_is_right_and_get_the_schedule_of_a_replay(tmp_path: Path) -> None:
    state = tmp_path / "emulator.state"
    with emulate("--settling", "0", "--speed", "600", "--state", str(state)) as (endpoint, _):
        RemoteQueue(endpoint).create(SHARES)
        with ThreadPoolExecutor(CLIENTS) as pool:
            job_of = {
                name: job for jobs in pool.map(lambda n: use(endpoint, n), range(CLIENTS)) for name, job in jobs.items()
            }
        queue = RemoteQueue(endpoint)
        deadline = time.monotonic() + PATIENCE
        while len(queue.listed("SUCCEEDED")) + len(queue.listed("FAILED")) < len(job_of):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        shown = {job: queue.job(job) for job in job_of.values()}
    assert len(shown) == CLIENTS * JOBS_OF_EACH
    schedule = replayed(state, job_of)
    seen = {job: (each["status"], each["stoppedAt"], len(each["attempts"])) for job, each in shown.items()}
    predicted = {job: schedule.job(job) for job in shown}
    assert seen == {
        job: (str(it.status), it.finished_at, len(it.attempts) - len(it.preempted)) for job, it in predicted.items()
    }
    assert sum(len(it.preempted) for it in predicted.values()) > 10


def fill(start: int, clock: RunningClock) -> Submissions:
    """Jobs of the lowest priority in the queue of this process, as many calls would have submitted them."""
    backend = batch_models.batch_backends[DEFAULT_ACCOUNT_ID]["us-west-2"]
    jobs = Submissions(start)
    for number in range(WAITING):
        request = {
            "jobName": f"waiting-{number}",
            "jobQueue": "queue",
            "quotaShareName": list(SHARES)[number % len(SHARES)],
            "serviceJobType": "SAGEMAKER_TRAINING",
            "schedulingPriority": 0,
            "serviceRequestPayload": training_request(Environment={"BATCH_QUOTA_RUNTIME": "60s"}),
        }
        with clock.held():
            jobs.add(backend.submit_service_job(request, 500).job_id, submission(request, clock.now()))
    return jobs


@pytest.mark.slow
def test_answers_are_right_with_ten_thousand_jobs_in_the_queue(tmp_path: Path) -> None:
    state, clock = tmp_path / "emulator.state", RunningClock(speed=60)
    settings = Settings(clock=clock, settling=0)
    moto_api_backend.reset()
    with serving(settings, clock, "127.0.0.1", 0, state=state) as port:
        endpoint = f"http://localhost:{port}"
        queue = RemoteQueue(endpoint)
        queue.create(SHARES)
        (there,) = batch_models.batch_backends[DEFAULT_ACCOUNT_ID]["us-west-2"].training_queues()
        with settings.lock:
            waiting = fill(there.history.started_at, clock)
        with ThreadPoolExecutor(CLIENTS) as pool:
            job_of = {
                name: job for jobs in pool.map(lambda n: use(endpoint, n), range(CLIENTS)) for name, job in jobs.items()
            }
        with settings.lock, clock.held():
            now = clock.now()
        with clock.held(now):
            shown = {job: queue.job(job) for job in job_of.values()}
            statuses = {status: len(queue.listed(status)) for status in STATUSES}
    schedule = replayed(state, job_of, waiting, now)
    predicted = {job: schedule.job(job) for job in shown}
    assert {job: (each["status"], each.get("scheduledAt"), each.get("stoppedAt")) for job, each in shown.items()} == {
        job: (str(it.status), it.latest and it.latest.scheduled_at, it.finished_at) for job, it in predicted.items()
    }
    everybody = [*waiting]
    assert len(everybody) == WAITING + CLIENTS * JOBS_OF_EACH == sum(statuses.values())
    assert statuses == {status: [str(schedule.status(job)) for job in everybody].count(status) for status in STATUSES}
