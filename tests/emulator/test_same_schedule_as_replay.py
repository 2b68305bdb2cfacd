"""What the emulator shows through boto3 is what the replay predicts: the named scenarios, submitted call by call."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from emulated_queue import EmulatedQueue, limits, training_request
from scenario_files import FOLDER, ScenarioFile, read_scenario_file, scenario_paths
from scenarios import Scenario

from policy_engine.assumptions import Assumptions
from policy_engine.emulator.schedule import JobState, Schedule, ServiceJobStatus
from policy_engine.emulator.testing import emulated
from policy_engine.scheduler import AttemptOutcome, replay
from policy_engine.topology import ShareState
from policy_engine.trace import (
    NONE,
    ON_STOP,
    SetShareState,
    Terminate,
    Unavailable,
    UpdateCapacity,
    UpdatePriority,
    UpdateShare,
)


@cache
def read(path: Path) -> ScenarioFile:
    return read_scenario_file(path)


def can_be_called(scenario: Scenario) -> bool:
    """Whether calls can make this happen: nothing about jobs not yet submitted, no share that is not ENABLED."""
    trace = scenario.trace
    submitted = dict(zip(trace.job_id.to_list(), trace.submitted_at.tolist(), strict=True))
    about_jobs = [event for event in scenario.events if isinstance(event, UpdatePriority | Terminate)]
    return (
        not any(isinstance(event, SetShareState) for event in scenario.events)
        and all(owned.share.state is ShareState.ENABLED for owned in scenario.topology.quota_shares())
        and all(submitted[event.job] < event.at for event in about_jobs)
        and all(timeout == NONE or timeout % 1000 == 0 for timeout in trace.attempt_timeout.tolist())
    )


CASES = [
    pytest.param(path, number, id=f"{path.relative_to(FOLDER).with_suffix('')}{expectation.title[11:]}")
    for path in scenario_paths()
    for number, expectation in enumerate(read(path).expectations)
    if can_be_called(expectation.scenario)
]


class Caller:
    """Makes a scenario happen by calls."""

    def __init__(self, queue: EmulatedQueue, scenario: Scenario) -> None:
        self._queue = queue
        self._batch = queue.batch
        self._scenario = scenario
        self._capacity = dict(scenario.topology.capacity)
        self._shares: dict[str, str] = {}
        self.jobs: dict[str, str] = {}

    def create_shares(self) -> None:
        for owned in self._scenario.topology.quota_shares():
            self._shares[owned.name] = self._queue.create_share(
                owned.name,
                owned.share.capacity,
                owned.share.strategy,
                owned.share.borrow_limit if owned.share.strategy.borrows else None,
                "ENABLED" if owned.share.in_share_preemption else "DISABLED",
            )

    def calls(self) -> list[tuple[int, Callable[[], object]]]:
        """Control events, then submissions, of each moment."""
        events = sorted(self._scenario.events, key=lambda event: event.at)
        calls = [(event.at, 0, lambda event=event: self._change(event)) for event in events]
        rows = enumerate(self._scenario.trace.submitted_at.tolist())
        calls += [(at, 1, lambda row=row: self._submit(row)) for row, at in rows]
        return [(at, call) for at, _, call in sorted(calls, key=lambda entry: entry[:2])]

    def _submit(self, row: int) -> None:
        trace = self._scenario.trace
        need = dict(zip(trace.units, trace.needs[trace.need[row]].tolist(), strict=True))
        told = {
            "BATCH_QUOTA_RUNTIME": str(trace.runtime[row] / 1000),
            "BATCH_QUOTA_FAILS": str(bool(trace.fails[row])).lower(),
        }
        checkpoint = int(trace.checkpoint[row])
        if checkpoint != NONE:
            told["BATCH_QUOTA_CHECKPOINT"] = "on_stop" if checkpoint == ON_STOP else str(checkpoint / 1000)
        more: dict[str, Any] = {}
        if trace.attempt_timeout[row] != NONE:
            more["timeoutConfig"] = {"attemptDurationSeconds": int(trace.attempt_timeout[row]) // 1000}
        if trace.preemption_retries[row] != NONE:
            retries = int(trace.preemption_retries[row])
            more["preemptionConfiguration"] = {"preemptionRetriesBeforeTermination": retries}
        self.jobs[trace.job_id[row]] = self._queue.submit(
            trace.share_names[trace.share[row]],
            schedulingPriority=int(trace.priority[row]),
            serviceRequestPayload=training_request(
                {unit: count for unit, count in need.items() if count}, HyperParameters=told
            ),
            **more,
        )

    def _change(self, event: object) -> None:
        match event:
            case UpdatePriority(job=job, priority=priority):
                self._batch.update_service_job(jobId=self.jobs[job], schedulingPriority=priority)
            case Terminate(job=job):
                self._batch.terminate_service_job(jobId=self.jobs[job], reason="enough")
            case UpdateCapacity(unit=unit, capacity=capacity):
                self._capacity[unit] = capacity
                self._batch.update_service_environment(
                    serviceEnvironment="environment", capacityLimits=limits(self._capacity)
                )
            case UpdateShare():
                self._batch.update_quota_share(quotaShareArn=self._shares[event.share], **self._changed(event))
            case Unavailable(unit=unit, at=at, until=until):
                self._queue.emulator.make_unavailable(unit, (until - at) / 1000)
            case _:
                raise TypeError(event)

    def _changed(self, event: UpdateShare) -> dict[str, Any]:
        share = self._batch.describe_quota_share(quotaShareArn=self._shares[event.share])
        changed: dict[str, Any] = {}
        if event.limits is not None:
            changed["capacityLimits"] = limits(event.limits)
        if event.strategy is not None or event.borrow_limit is not None:
            sharing = share["resourceSharingConfiguration"]
            strategy = event.strategy or sharing["strategy"]
            borrow_limit = sharing.get("borrowLimit", -1) if event.borrow_limit is None else event.borrow_limit
            borrows = {"borrowLimit": borrow_limit} if strategy == "LEND_AND_BORROW" else {}
            changed["resourceSharingConfiguration"] = {"strategy": strategy, **borrows}
        if event.in_share_preemption is not None:
            state = "ENABLED" if event.in_share_preemption else "DISABLED"
            changed["preemptionConfiguration"] = {"inSharePreemption": state}
        return changed


@pytest.mark.parametrize(("path", "number"), CASES)
def test_a_trace_that_is_submitted_call_by_call_is_scheduled_as_the_replay_predicts(path: Path, number: int) -> None:
    scenario = read(path).expectations[number].scenario
    topology = scenario.topology
    actions = [
        {"reason": limit.reason, "state": "RUNNABLE", "maxTimeSeconds": limit.after // 1000, "action": "TERMINATE"}
        for limit in topology.queue.time_limits
    ]
    with emulated(assumptions=topology.assumptions, settling=0) as emulator:
        queue = EmulatedQueue(emulator, capacity=topology.capacity, time_limits=actions)
        caller = Caller(queue, scenario)
        policy = queue.create_policy("policy")
        queue.create_environment("environment", topology.capacity)
        queue.create_queue("queue", policy, "environment", jobStateTimeLimitActions=actions)
        caller.create_shares()
        start = emulator.clock.now()
        last = scenario.until
        for at, call in [(at, call) for at, call in caller.calls() if last is None or at <= last]:
            emulator.clock.advance(start + at - emulator.clock.now())
            call()
        if last is None:
            emulator.run_until_idle()
        else:
            emulator.clock.advance(max(0, start + last + 1 - emulator.clock.now()))
        shown = {job: described(queue.job(job_id)) for job, job_id in caller.jobs.items()}
    outcome = replay(topology, scenario.trace, events=scenario.events, until=scenario.until)
    predicted = Schedule(outcome, start)
    assert shown == {job: expected(predicted.job(job)) for job in caller.jobs}


def described(job: dict[str, Any]) -> dict[str, Any]:
    """What DescribeServiceJob says of a job's schedule."""
    summary = job.get("preemptionSummary", {"preemptedAttemptCount": 0, "recentPreemptedAttempts": []})
    return {
        "status": job["status"],
        "scheduledAt": job.get("scheduledAt"),
        "stoppedAt": job.get("stoppedAt"),
        "preempted": summary["preemptedAttemptCount"],
        "preempted attempts": [
            (attempt.get("startedAt"), attempt["stoppedAt"]) for attempt in summary["recentPreemptedAttempts"]
        ],
        "other attempts": [(attempt.get("startedAt"), attempt["stoppedAt"]) for attempt in job["attempts"]],
    }


def expected(job: JobState) -> dict[str, Any]:
    """The same of a replay."""
    others = {AttemptOutcome.SUCCEEDED, AttemptOutcome.FAILED, AttemptOutcome.TERMINATED, AttemptOutcome.TIMED_OUT}
    return {
        "status": job.status.value,
        "scheduledAt": job.latest.scheduled_at if job.latest else None,
        "stoppedAt": job.finished_at,
        "preempted": len(job.preempted),
        "preempted attempts": [(attempt.running_at, attempt.stopped_at) for attempt in job.preempted][:10],
        "other attempts": [(a.running_at, a.stopped_at) for a in job.attempts if a.outcome in others],
    }


def test_most_scenarios_can_be_called() -> None:
    assert len(CASES) > 120


def test_the_statuses_are_those_of_the_api_in_their_order() -> None:
    assumptions = Assumptions.model_validate({"provision_seconds": 3, "startup_seconds": 2})
    with emulated(assumptions=assumptions) as emulator:
        queue = EmulatedQueue(emulator).create()
        queue.create_shares("share")
        first = queue.submit("share", serviceRequestPayload=training_request(Environment={"BATCH_QUOTA_RUNTIME": "4s"}))
        second = queue.submit("share")
        seen: list[tuple[str, ...]] = []
        for _ in range(12):
            statuses = tuple(queue.statuses(first, second))
            if seen[-1:] != [statuses]:
                seen.append(statuses)
            emulator.advance(1)
    assert seen == [
        ("SUBMITTED", "SUBMITTED"),
        ("SCHEDULED", "RUNNABLE"),
        ("STARTING", "RUNNABLE"),
        ("RUNNING", "RUNNABLE"),
        ("SUCCEEDED", "SCHEDULED"),
    ]


def test_what_was_shown_never_changes(queue: EmulatedQueue) -> None:
    """Calls of one moment are scheduled together once it is over: a later one cannot undo what was seen."""
    queue.create_shares("share")
    low = queue.submit("share", schedulingPriority=1)
    assert queue.statuses(low) == [ServiceJobStatus.SUBMITTED]
    high = queue.submit("share", schedulingPriority=9)
    assert queue.statuses(low, high) == ["SUBMITTED", "SUBMITTED"]
    queue.emulator.advance(1)
    assert queue.statuses(low, high) == ["RUNNABLE", "RUNNING"]
    assert json.loads(queue.job(high)["serviceRequestPayload"])["TrainingJobName"] == "job"
