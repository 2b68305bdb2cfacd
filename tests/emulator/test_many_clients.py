"""Twenty clients at once: what they see is right, and what comes of it is the replay of their calls."""

import json
import random
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from emulator_process import PATIENCE, emulate
from remote_queue import RemoteQueue

from policy_engine.emulator.schedule import Schedule
from policy_engine.emulator.submissions import Submission, Submissions
from policy_engine.scheduler import replay
from policy_engine.topology import Queue, QuotaShare, ResourceSharingStrategy, Team, Topology
from policy_engine.trace import NONE, ControlEvent, Terminate, UpdatePriority

CLIENTS = 20
JOBS_OF_EACH = 12
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


def replayed(state: Path, job_of: Mapping[str, str]) -> Schedule:
    """The replay of all calls that a state file has."""
    calls = [call for line in state.read_text().splitlines() if (call := json.loads(line)).get("status") == 200]
    start = next(call["now"] for call in calls if call["request"]["PATH_INFO"] == "/v1/createjobqueue")
    submissions, events = Submissions(start), list[ControlEvent]()
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
    topology = Topology(name="q", capacity={G5: sum(SHARES.values())}, queue=Queue(), teams={"all": Team(shares=share)})
    return Schedule(replay(topology, submissions.as_trace(), events=events), start)


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
