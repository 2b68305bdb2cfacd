"""Submitting, listing, reprioritizing and terminating service jobs, and the queue's snapshot."""

import json
from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError
from emulated_queue import G5, SETTLED, EmulatedQueue, training_request


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(ClientError) as caught:
        call()
    assert caught.value.response["Error"]["Code"] == "ClientException"
    return str(caught.value.response["Error"]["Message"])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"schedulingPriority": 10_000}, "schedulingPriority must be between 0 and 9999, not 10000"),
        ({"name": "a job"}, "jobName must have 1 to 128 letters"),
        ({"share": "nobody"}, "Quota share nobody does not exist"),
        ({"shareIdentifier": "x"}, "shareIdentifier is for job queues with a fair share policy"),
        ({"serviceRequestPayload": training_request(Comment="x" * 10_240)}, "at most 10240 are allowed"),
        ({"tags": {f"{i:0>120}": "x" * 256 for i in range(50)}, "name": "a" * 128}, None),
        (
            {
                "tags": {f"{i:0>128}": "x" * 256 for i in range(50)},
                "serviceRequestPayload": training_request(Comment='"' * 5_000),
            },
            "at most 30720 are allowed",
        ),
        ({"retryStrategy": {"attempts": 11}}, "retryStrategy.attempts must be between 1 and 10, not 11"),
        ({"retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "EXIT"}] * 6}}, "has 6 entries; at most 5"),
        ({"retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "Retry"}]}}, None),
        ({"retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "Stop"}]}}, "one of RETRY | EXIT, not 'Stop'"),
        ({"preemptionConfiguration": {"preemptionRetriesBeforeTermination": -1}}, "must be between 0 and"),
        ({"timeoutConfig": {"attemptDurationSeconds": 0}}, "attemptDurationSeconds must be between 1 and"),
        ({"serviceRequestPayload": "{"}, "the emulator cannot run serviceRequestPayload: it is not JSON"),
        ({"serviceRequestPayload": "{}"}, "ResourceConfig: field required"),
        ({"serviceRequestPayload": training_request({G5: 0})}, "InstanceCount: input should be greater than"),
        (
            {"serviceRequestPayload": training_request(HyperParameters={"BATCH_QUOTA_RUNTIME": "long"})},
            "BATCH_QUOTA_RUNTIME: expected a duration such as 90s",
        ),
        ({"clientToken": "x" * 65}, "clientToken has length 65; at most 64 is allowed"),
    ],
)
def test_a_submission_is_checked(queue: EmulatedQueue, more: dict[str, object], message: str | None) -> None:
    queue.create_shares("share")
    request = {"share": "share", **more}
    if message is None:
        assert queue.submit(**request)  # type: ignore[arg-type]
    else:
        assert message in refused(lambda: queue.submit(**request))  # type: ignore[arg-type]
        assert queue.batch.list_service_jobs(jobQueue="queue", jobStatus="SUBMITTED")["jobSummaryList"] == []


def test_a_job_of_a_quota_managed_queue_names_its_share(queue: EmulatedQueue) -> None:
    message = refused(
        lambda: queue.batch.submit_service_job(
            jobName="job",
            jobQueue="queue",
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=training_request(),
        )
    )
    assert message == "quotaShareName must be specified for a job queue with a quota share policy"


def test_a_disabled_share_or_queue_takes_no_jobs_and_goes_on_with_those_it_has(queue: EmulatedQueue) -> None:
    (share,) = queue.create_shares("share")
    jobs = [queue.submit("share"), queue.submit("share")]
    queue.batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    assert refused(lambda: queue.submit("share")) == "Quota share share is DISABLED"
    queue.batch.update_quota_share(quotaShareArn=share, state="ENABLED")
    queue.batch.update_job_queue(jobQueue="queue", state="DISABLED")
    assert refused(lambda: queue.submit("share")) == "Job queue queue is DISABLED"
    queue.emulator.run_until_idle()
    assert queue.statuses(*jobs) == ["SUCCEEDED", "SUCCEEDED"]


def test_a_new_share_takes_jobs_once_it_is_valid(queue: EmulatedQueue) -> None:
    queue.create_share("share")
    assert refused(lambda: queue.submit("share")) == "Quota share share is not VALID"
    queue.emulator.advance(SETTLED)
    assert queue.submit("share")


def test_a_client_token_is_good_for_one_submission(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    queue.submit("share", clientToken="one")
    assert "clientToken one" in refused(lambda: queue.submit("share", clientToken="one"))
    queue.submit("share", clientToken="two")
    assert len(queue.listed(jobStatus="SUBMITTED")) == 2


def test_a_refused_submission_leaves_its_client_token_unused(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    refused(lambda: queue.submit("share", clientToken="one", serviceRequestPayload="{}"))
    assert queue.submit("share", clientToken="one")


@pytest.mark.parametrize(
    ("where", "runtime"),
    [
        ({}, 300),
        ({"HyperParameters": {"BATCH_QUOTA_RUNTIME": "90"}}, 90),
        ({"Environment": {"BATCH_QUOTA_RUNTIME": "1m30s"}}, 90),
        ({"Tags": [{"Key": "BATCH_QUOTA_RUNTIME", "Value": "90s"}]}, 90),
        ({"HyperParameters": {"BATCH_QUOTA_RUNTIME": "1"}, "Environment": {"BATCH_QUOTA_RUNTIME": "2"}}, 1),
        ({"Environment": {"BATCH_QUOTA_RUNTIME": "0.25"}}, 0.25),
    ],
)
def test_a_job_runs_as_long_as_its_request_says(queue: EmulatedQueue, where: dict[str, object], runtime: float) -> None:
    queue.create_shares("share")
    job_id = queue.submit("share", serviceRequestPayload=training_request(**where))
    queue.emulator.run_until_idle()
    job = queue.job(job_id)
    assert (job["stoppedAt"] - job["startedAt"]) / 1000 == runtime


def test_a_tag_of_the_job_says_how_long_it_runs(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    job_id = queue.submit("share", tags={"BATCH_QUOTA_RUNTIME": "20s"})
    queue.emulator.run_until_idle()
    job = queue.job(job_id)
    assert job["stoppedAt"] - job["startedAt"] == 20_000


@pytest.mark.parametrize(
    ("request_", "more"),
    [
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 100}}, {}),
        ({"StoppingCondition": {"MaxRuntimeInSeconds": 200}}, {"timeoutConfig": {"attemptDurationSeconds": 100}}),
        ({}, {"timeoutConfig": {"attemptDurationSeconds": 100}}),
    ],
)
def test_an_attempt_ends_at_the_shorter_of_its_limits(
    queue: EmulatedQueue, request_: dict[str, object], more: dict[str, object]
) -> None:
    queue.create_shares("share")
    job_id = queue.submit("share", serviceRequestPayload=training_request(**request_), **more)
    queue.emulator.run_until_idle()
    job = queue.job(job_id)
    assert (job["status"], job["stoppedAt"] - job["startedAt"]) == ("FAILED", 100_000)
    assert job["statusReason"] == "Simulated: the attempt ran as long as its timeout allows."


def test_a_job_that_fails_says_so(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    payload = training_request(Environment={"BATCH_QUOTA_FAILS": "true"})
    job_id = queue.submit("share", serviceRequestPayload=payload)
    queue.emulator.run_until_idle()
    job = queue.job(job_id)
    reason = "Received status from SageMaker: Simulated: the training job has failed, as its request says."
    assert (job["status"], job["statusReason"]) == ("FAILED", reason)
    (attempt,) = job["attempts"]
    assert attempt["statusReason"] == reason
    assert attempt["serviceResourceId"] == job["latestAttempt"]["serviceResourceId"]
    arn = attempt["serviceResourceId"]["value"]
    prefix, _, name = arn.partition("/")
    assert prefix == "arn:aws:sagemaker:us-west-2:123456789012:training-job"
    assert name.startswith("AWSBatchjob")
    assert len(name) <= 63


def test_a_job_that_can_never_run_says_why(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    jobs = [
        queue.submit("share", serviceRequestPayload=training_request({G5: 2})),
        queue.submit("share"),
    ]
    queue.emulator.run_until_idle()
    stuck, behind = map(queue.job, jobs)
    assert (stuck["status"], behind["status"]) == ("RUNNABLE", "RUNNABLE")
    assert stuck["statusReason"] == (
        "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits."
    )
    assert "statusReason" not in behind


def test_capacity_usage_is_what_the_request_asks_for(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    need = {G5: 2, "ml.p5.48xlarge": 1}
    job = queue.job(queue.submit("share", serviceRequestPayload=training_request(need)))
    assert job["capacityUsage"] == [
        {"capacityUnit": G5, "quantity": 2.0},
        {"capacityUnit": "ml.p5.48xlarge", "quantity": 1.0},
    ]


def test_a_described_job_shows_what_it_was_submitted_with(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    asked = {
        "schedulingPriority": 7,
        "preemptionConfiguration": {"preemptionRetriesBeforeTermination": 0},
        "retryStrategy": {"attempts": 2, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "*"}]},
        "timeoutConfig": {"attemptDurationSeconds": 60},
        "tags": {"a": "b"},
        "serviceRequestPayload": training_request(),
    }
    job = queue.job(queue.submit("share", "name", **asked))
    assert {field: job[field] for field in asked} == asked
    assert (job["jobName"], job["quotaShareName"], job["serviceJobType"]) == ("name", "share", "SAGEMAKER_TRAINING")
    assert job["jobQueue"] == "arn:aws:batch:us-west-2:123456789012:job-queue/queue"
    assert queue.job(job["jobArn"])["jobId"] == job["jobId"]
    assert job["createdAt"] == queue.emulator.clock.now()
    assert job["isTerminated"] is False


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        ({}, ["b2", "a1"]),
        ({"jobStatus": "RUNNABLE"}, ["A10"]),
        ({"jobStatus": "SUBMITTED"}, ["late"]),
        ({"filters": [{"name": "JOB_NAME", "values": ["a1"]}]}, ["a1"]),
        ({"filters": [{"name": "JOB_NAME", "values": ["a1*"]}]}, ["A10", "a1"]),
        ({"filters": [{"name": "QUOTA_SHARE_NAME", "values": ["a"]}]}, ["a1"]),
        ({"filters": [{"name": "QUOTA_SHARE_NAME", "values": ["a"]}], "jobStatus": "RUNNABLE"}, ["A10"]),
        ({"filters": [{"name": "SHARE_IDENTIFIER", "values": ["a"]}]}, []),
    ],
)
def test_jobs_are_listed_by_status_or_filter_the_latest_first(
    queue: EmulatedQueue, selection: dict[str, object], names: list[str]
) -> None:
    queue.create_shares("a", "b")
    queue.submit("a", "a1")
    queue.submit("a", "A10")
    queue.submit("b", "b2")
    queue.emulator.advance(10)
    queue.submit("b", "late")
    assert queue.listed(**selection) == names


def test_jobs_are_listed_by_the_time_of_their_creation(queue: EmulatedQueue) -> None:
    queue.create_shares("a")
    for name in ("first", "second", "third"):
        queue.submit("a", name)
        queue.emulator.advance(1)
    middle = str(queue.emulator.clock.now() - 2000)
    assert queue.listed(filters=[{"name": "BEFORE_CREATED_AT", "values": [middle]}]) == ["first"]
    assert queue.listed(filters=[{"name": "AFTER_CREATED_AT", "values": [middle]}]) == ["third"]


def test_jobs_are_listed_in_pages_while_more_are_submitted(queue: EmulatedQueue) -> None:
    queue.create_shares("a")
    for number in range(5):
        queue.submit("a", f"job-{number}")
    page = queue.batch.list_service_jobs(jobQueue="queue", jobStatus="SUBMITTED", maxResults=2)
    queue.submit("a", "late")
    rest = {"jobStatus": "SUBMITTED", "nextToken": page["nextToken"]}
    assert [job["jobName"] for job in page["jobSummaryList"]] == ["job-4", "job-3"]
    assert queue.listed(**rest) == ["job-2", "job-1", "job-0"]


def test_only_one_filter_is_allowed(queue: EmulatedQueue) -> None:
    filters = [{"name": "JOB_NAME", "values": ["a"]}] * 2
    assert refused(lambda: queue.listed(filters=filters)) == "only one filter can be used at a time"
    assert "one of the names JOB_NAME" in refused(lambda: queue.listed(filters=[{"name": "NAME", "values": ["a"]}]))


def test_a_terminated_job_has_failed_for_the_given_reason(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    running, waiting = queue.submit("share"), queue.submit("share")
    queue.emulator.advance(10)
    new = queue.submit("share")
    for job_id in (running, waiting, new):
        queue.batch.terminate_service_job(jobId=job_id, reason="not needed")
    queue.emulator.advance(1)
    for job in map(queue.job, (running, waiting, new)):
        assert (job["status"], job["statusReason"], job["isTerminated"]) == ("FAILED", "not needed", True)
    (attempt,) = queue.job(running)["attempts"]
    assert attempt["statusReason"] == "not needed"


def test_a_job_that_was_terminated_at_once_stops_nobody(queue: EmulatedQueue) -> None:
    queue.create_share("share", in_share_preemption="ENABLED")
    queue.emulator.advance(SETTLED)
    low = queue.submit("share")
    queue.emulator.advance(1)
    high = queue.submit("share", schedulingPriority=1)
    queue.batch.update_service_job(jobId=high, schedulingPriority=2)
    queue.batch.terminate_service_job(jobId=high, reason="a mistake")
    queue.emulator.run_until_idle()
    assert queue.statuses(low, high) == ["SUCCEEDED", "FAILED"]
    assert "preemptionSummary" not in queue.job(low)


def test_terminating_what_has_ended_changes_nothing(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    job_id = queue.submit("share")
    queue.emulator.run_until_idle()
    queue.batch.terminate_service_job(jobId=job_id, reason="late")
    assert (queue.job(job_id)["status"], queue.job(job_id)["isTerminated"]) == ("SUCCEEDED", False)
    message = refused(lambda: queue.batch.update_service_job(jobId=job_id, schedulingPriority=1))
    assert "has ended" in message


def test_jobs_are_terminated_in_bulk(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    jobs = [queue.submit("share") for _ in range(3)]
    unknown = "00000000-0000-0000-0000-000000000000"
    answer = queue.batch.terminate_service_jobs(jobs=[*jobs, unknown, "nonsense"], reason="enough")
    assert answer["successful"] == [*jobs, unknown]
    assert [(error["job"], error["code"]) for error in answer["errors"]] == [("nonsense", "ValidationException")]
    assert queue.statuses(*jobs) == ["FAILED"] * 3
    message = refused(lambda: queue.batch.terminate_service_jobs(jobs=["x"] * 51, reason="enough"))
    assert message == "jobs must have 1 to 50 entries, not 51"


def test_the_jobs_of_a_deleted_share_are_terminated(queue: EmulatedQueue) -> None:
    share, _ = queue.create_shares("share", "other")
    jobs = [queue.submit("share"), queue.submit("share"), queue.submit("other")]
    queue.emulator.advance(10)
    queue.batch.update_quota_share(quotaShareArn=share, state="DISABLED")
    queue.batch.delete_quota_share(quotaShareArn=share)
    queue.emulator.advance(SETTLED)
    assert queue.statuses(*jobs) == ["FAILED", "FAILED", "RUNNING"]
    assert queue.job(jobs[0])["statusReason"] == "Simulated: the quota share was deleted."


def test_a_deleted_share_lends_nothing_any_more(queue: EmulatedQueue) -> None:
    queue.create_share("borrower", strategy="LEND_AND_BORROW")
    lender = queue.create_share("lender", strategy="LEND")
    queue.emulator.advance(SETTLED)
    queue.batch.update_quota_share(quotaShareArn=lender, state="DISABLED")
    queue.batch.delete_quota_share(quotaShareArn=lender)
    queue.emulator.advance(SETTLED)
    jobs = [queue.submit("borrower"), queue.submit("borrower")]
    queue.emulator.advance(SETTLED)
    assert queue.statuses(*jobs) == ["RUNNING", "RUNNABLE"]


def test_a_share_lends_nothing_before_it_was_created(queue: EmulatedQueue) -> None:
    queue.create_share("borrower", strategy="LEND_AND_BORROW")
    queue.emulator.advance(SETTLED)
    jobs = [queue.submit("borrower"), queue.submit("borrower")]
    queue.emulator.advance(10)
    assert queue.statuses(*jobs) == ["RUNNING", "RUNNABLE"]
    queue.create_share("lender", strategy="LEND")
    queue.emulator.advance(SETTLED)
    assert queue.statuses(*jobs) == ["RUNNING", "RUNNING"]
    assert queue.job(jobs[1])["scheduledAt"] - queue.job(jobs[0])["scheduledAt"] == 10_000


def test_nothing_new_is_dispatched_while_the_service_environment_is_disabled(queue: EmulatedQueue) -> None:
    queue.create_shares("a", "b")
    running = queue.submit("a")
    queue.emulator.advance(1)
    queue.batch.update_service_environment(serviceEnvironment="environment", state="DISABLED")
    waiting = queue.submit("b")
    queue.emulator.advance(10)
    assert queue.statuses(running, waiting) == ["RUNNING", "RUNNABLE"]
    assert queue.job(waiting)["statusReason"] == "Simulated: the service environment is DISABLED."
    queue.batch.update_service_environment(serviceEnvironment="environment", state="ENABLED")
    queue.emulator.advance(1)
    assert queue.statuses(running, waiting) == ["RUNNING", "RUNNING"]


def test_time_limits_can_be_changed_unless_that_would_change_the_past(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    stuck = queue.submit("share", serviceRequestPayload=training_request({G5: 2}))
    queue.emulator.advance("30m")

    def act_after(seconds: int) -> None:
        action = {
            "reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
            "state": "RUNNABLE",
            "maxTimeSeconds": seconds,
            "action": "TERMINATE",
        }
        queue.batch.update_job_queue(jobQueue="queue", jobStateTimeLimitActions=[action])

    assert "a job has been blocked for longer" in refused(lambda: act_after(600))
    act_after(3600)
    queue.emulator.advance("29m")
    assert queue.statuses(stuck) == ["RUNNABLE"]
    queue.emulator.advance("2m")
    assert queue.statuses(stuck) == ["FAILED"]
    assert queue.job(stuck)["statusReason"] == (
        "Terminated by JobStateTimeLimit action due to reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    )


def test_the_snapshot_shows_the_front_of_each_share_and_who_uses_what(queue: EmulatedQueue) -> None:
    queue.create_shares("a", "b", "c")
    start = queue.emulator.clock.now()
    jobs = {name: queue.submit(name[0], name) for name in ("a1", "a2", "a3", "b1")}
    queue.emulator.advance(100)
    queue.batch.update_service_job(jobId=jobs["a3"], schedulingPriority=5)
    queue.emulator.advance(1)
    snapshot = queue.batch.get_job_queue_snapshot(jobQueue="queue")
    now = queue.emulator.clock.now()
    front = {"jobArn": queue.job(jobs["a3"])["jobArn"], "earliestTimeAtPosition": start + 100_000}
    used = [{"capacityUnit": G5, "quantity": 1.0}]
    assert snapshot["frontOfQuotaShares"] == {"quotaShares": {"a": [front], "b": [], "c": []}, "lastUpdatedAt": now}
    assert snapshot["queueUtilization"] == {
        "totalCapacityUsage": [{"capacityUnit": G5, "quantity": 2.0}],
        "quotaShareUtilization": {
            "topCapacityUtilization": [
                {"quotaShareName": "a", "capacityUsage": used},
                {"quotaShareName": "b", "capacityUsage": used},
            ]
        },
        "lastUpdatedAt": now,
    }
    queue.emulator.advance(300)
    (front,) = queue.batch.get_job_queue_snapshot(jobQueue="queue")["frontOfQuotaShares"]["quotaShares"]["a"]
    assert front == {"jobArn": queue.job(jobs["a2"])["jobArn"], "earliestTimeAtPosition": start + 300_000}


def test_the_payload_is_kept_as_it_was_sent(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    payload = json.dumps(json.loads(training_request(Comment="\N{SNOWMAN}")), indent=2, ensure_ascii=False)
    assert queue.job(queue.submit("share", serviceRequestPayload=payload))["serviceRequestPayload"] == payload
