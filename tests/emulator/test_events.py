"""What AWS Batch tells others: events that rules pass on, and training jobs in SageMaker."""

import json
from typing import Any

import pytest
from emulated_queue import G5, EmulatedQueue, client, training_request

from policy_engine.emulator.testing import Emulator

Json = dict[str, Any]
RETURNED = {
    # As the constructs' rule has it.
    "status": ["RUNNABLE"],
    "statusReason": [{"exists": False}, {"anything-but": {"prefix": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"}}],
    "$or": [
        {"latestAttempt": {"serviceResourceId": {"value": [{"exists": True}]}}},
        {"attempts": {"serviceResourceId": {"value": [{"exists": True}]}}},
        {"preemptionSummary": {"preemptedAttemptCount": [{"exists": True}]}},
    ],
}


class Listener:
    """A rule on AWS Batch's events whose target is a queue, straight or by a topic."""

    def __init__(self, *, detail: Json | None = None, by_topic: bool = False) -> None:
        self._sqs = client("sqs")
        self._url = self._sqs.create_queue(QueueName="heard")["QueueUrl"]
        arn = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        self._by_topic = by_topic
        if by_topic:
            sns = client("sns")
            topic = sns.create_topic(Name="told")["TopicArn"]
            sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn)
            arn = topic
        events = client("events")
        pattern = {"source": ["aws.batch"], **({} if detail is None else {"detail": detail})}
        events.put_rule(Name="rule", EventPattern=json.dumps(pattern), State="ENABLED")
        events.put_targets(Rule="rule", Targets=[{"Id": "1", "Arn": arn}])

    def heard(self) -> list[Json]:
        """The events since the last time, in the order in which they were sent."""
        events: list[Json] = []
        while messages := self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages"):
            for message in messages:
                body = json.loads(message["Body"])
                events.append(json.loads(body["Message"]) if self._by_topic else body)
                self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return events


def changes(events: list[Json]) -> list[tuple[str, str]]:
    return [(event["detail"]["jobName"], event["detail"]["status"]) for event in events]


def contended(queue: EmulatedQueue) -> tuple[str, str]:
    """The ids of a job that borrowed, and of one that claims what it borrowed."""
    queue.create_share("a", {G5: 2}, "LEND")
    queue.create_share("b", {G5: 1}, "LEND_AND_BORROW", 100)
    queue.emulator.advance("1s")
    payload = training_request({G5: 2}, HyperParameters={"BATCH_QUOTA_RUNTIME": "1h"})
    borrowed = queue.submit("b", "borrowed", serviceRequestPayload=payload)
    queue.emulator.advance("10m")
    return borrowed, queue.submit("a", "claims", serviceRequestPayload=payload)


def test_every_change_of_a_job_s_status_is_an_event(queue: EmulatedQueue) -> None:
    listener = Listener()
    queue.create_shares("share")
    job_id = queue.submit("share")
    queue.emulator.run_until_idle()
    events = listener.heard()
    statuses = ["RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED"]
    assert changes(events) == [("job", status) for status in statuses]
    assert {event["detail-type"] for event in events} == {"Batch Service Job State Change"}
    assert {(event["source"], event["region"]) for event in events} == {("aws.batch", "us-west-2")}
    assert len({event["id"] for event in events}) == len(events)
    assert [event["time"] for event in events] == sorted(event["time"] for event in events)
    described = queue.job(job_id)
    del described["ResponseMetadata"], described["serviceRequestPayload"], described["tags"]
    assert events[-1]["detail"] == described
    assert {event["resources"][0] for event in events} == {described["jobArn"]}


def test_events_come_in_time_one_by_one(queue: EmulatedQueue) -> None:
    listener = Listener()
    queue.create_shares("share")
    queue.submit("share")
    assert listener.heard() == []
    queue.emulator.advance(0.001)
    started = [("job", status) for status in ("RUNNABLE", "SCHEDULED", "STARTING", "RUNNING")]
    assert changes(listener.heard()) == started
    queue.emulator.advance("1s")
    assert listener.heard() == []
    queue.emulator.run_until_idle()
    assert changes(listener.heard()) == [("job", "SUCCEEDED")]


@pytest.mark.parametrize("by_topic", [False, True], ids=["queue", "topic"])
def test_a_preemption_is_a_return_to_runnable_that_the_constructs_rule_passes_on(
    queue: EmulatedQueue, *, by_topic: bool
) -> None:
    arn = queue.batch.describe_job_queues()["jobQueues"][0]["jobQueueArn"]
    listener = Listener(detail={"jobQueue": [arn], **RETURNED}, by_topic=by_topic)
    contended(queue)
    queue.emulator.run_until_idle()
    (event,) = listener.heard()
    assert changes([event]) == [("borrowed", "RUNNABLE")]
    assert event["detail"]["preemptionSummary"]["preemptedAttemptCount"] == 1
    assert event["time"].endswith("Z")


def test_a_lack_of_capacity_is_a_return_too_that_the_rule_leaves_out(queue: EmulatedQueue) -> None:
    listener = Listener()
    queue.create_shares("share")
    queue.emulator.make_unavailable(G5, "20m")
    queue.submit("share")
    queue.emulator.run_until_idle()
    events = listener.heard()
    returned = [event for event in events[1:] if event["detail"]["status"] == "RUNNABLE"]
    assert returned
    assert all(
        event["detail"]["statusReason"].startswith("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY") for event in returned
    )


def test_a_queue_that_a_job_blocks_is_told_of_once(queue: EmulatedQueue) -> None:
    listener = Listener()
    queue.create_shares("share")
    payload = training_request({G5: 2})
    queue.submit("share", "large", serviceRequestPayload=payload)
    queue.submit("share", "behind")
    queue.emulator.advance("1m")
    queue.emulator.advance("1m")
    blocked = [event for event in listener.heard() if event["detail-type"] == "Batch Service Job Queue Blocked"]
    assert changes(blocked) == [("large", "RUNNABLE")]
    assert blocked[0]["detail"]["statusReason"].startswith("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED")


def test_a_target_that_cannot_be_reached_stops_nothing(queue: EmulatedQueue, caplog: pytest.LogCaptureFixture) -> None:
    client("events").put_rule(Name="rule", EventPattern='{"source": ["aws.batch"]}', State="ENABLED")
    nowhere = "arn:aws:lambda:us-west-2:123456789012:function:nowhere"
    client("events").put_targets(Rule="rule", Targets=[{"Id": "1", "Arn": nowhere}])
    queue.create_shares("share")
    job = queue.submit("share")
    queue.emulator.run_until_idle()
    assert queue.statuses(job) == ["SUCCEEDED"]
    assert caplog.text.count(f"the emulator delivers no events to {nowhere}") == 1


def test_a_rule_that_is_disabled_passes_nothing_on(queue: EmulatedQueue) -> None:
    listener = Listener()
    client("events").disable_rule(Name="rule")
    queue.create_shares("share")
    queue.submit("share")
    queue.emulator.run_until_idle()
    assert listener.heard() == []


def training_job(job: Json) -> Json:
    name = job["latestAttempt"]["serviceResourceId"]["value"].rpartition("/")[2]
    return dict(client("sagemaker").describe_training_job(TrainingJobName=name))


def test_a_dispatched_job_has_a_training_job_which_goes_through_sagemaker_s_statuses(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    job_id = queue.submit("share", serviceRequestPayload=training_request(RoleArn="arn:aws:iam::123456789012:role/r"))
    queue.emulator.advance("1s")
    shown = training_job(queue.job(job_id))
    assert shown["TrainingJobName"].startswith("AWSBatchjob")
    assert (shown["TrainingJobStatus"], shown["ResourceConfig"]["InstanceType"]) == ("InProgress", G5)
    assert shown["RoleArn"].endswith(":role/r")
    queue.emulator.run_until_idle()
    shown = training_job(queue.job(job_id))
    assert (shown["TrainingJobStatus"], shown["SecondaryStatus"]) == ("Completed", "Completed")
    steps = ["Pending", "Downloading", "Training", "Completed"]
    assert [each["Status"] for each in shown["SecondaryStatusTransitions"]] == steps
    assert shown["TrainingEndTime"] > shown["TrainingStartTime"] >= shown["CreationTime"]


def test_a_preempted_training_job_is_stopped_and_the_next_attempt_is_another_one(queue: EmulatedQueue) -> None:
    borrowed, _ = contended(queue)
    first = training_job(queue.job(borrowed))["TrainingJobName"]
    queue.emulator.run_until_idle()
    listed = client("sagemaker").list_training_jobs(NameContains="AWSBatch")["TrainingJobSummaries"]
    statuses = {each["TrainingJobName"]: each["TrainingJobStatus"] for each in listed}
    assert sorted(statuses.values()) == ["Completed", "Completed", "Stopped"]
    assert statuses[first] == "Stopped"
    assert training_job(queue.job(borrowed))["TrainingJobName"] != first


def test_a_terminated_training_job_is_stopped(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    job_id = queue.submit("share")
    queue.emulator.advance("4m")
    queue.batch.terminate_service_job(jobId=job_id, reason="not needed")
    queue.emulator.run_until_idle()
    assert training_job(queue.job(job_id))["TrainingJobStatus"] == "Stopped"


def test_a_job_that_fails_has_a_training_job_that_failed(queue: EmulatedQueue) -> None:
    queue.create_shares("share")
    job_id = queue.submit("share", serviceRequestPayload=training_request(Environment={"BATCH_QUOTA_FAILS": "true"}))
    queue.emulator.run_until_idle()
    assert training_job(queue.job(job_id))["TrainingJobStatus"] == "Failed"


def test_other_accounts_hear_nothing(batch_quota: Emulator, queue: EmulatedQueue) -> None:
    other = client("events", region_name="eu-west-1")
    other.put_rule(Name="rule", EventPattern='{"source": ["aws.batch"]}', State="ENABLED")
    sqs = client("sqs", region_name="eu-west-1")
    url = sqs.create_queue(QueueName="heard")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    other.put_targets(Rule="rule", Targets=[{"Id": "1", "Arn": arn}])
    queue.create_shares("share")
    queue.submit("share")
    batch_quota.run_until_idle()
    assert "Messages" not in sqs.receive_message(QueueUrl=url)
