"""What goes wrong on request: throttled submissions, capacity that SageMaker does not have, slow changes of state."""

from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from emulated_queue import G5, SETTLED, EmulatedQueue, client, training_request

from policy_engine.assumptions import Assumptions
from policy_engine.emulator.clock import SteppedClock
from policy_engine.emulator.faults import Throttle
from policy_engine.emulator.testing import Emulator, emulated

P5 = "ml.p5.48xlarge"
NO_INSTANCES = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY - Unable to provision requested compute resources"


def queue_with_share(emulator: Emulator, mode: str, attempts: int) -> EmulatedQueue:
    retries = {"mode": mode, "total_max_attempts": attempts}
    queue = EmulatedQueue(emulator, batch=client("batch", config=Config(retries=retries))).create()
    queue.create_shares("share")
    return queue


def test_submissions_above_the_rate_are_refused_as_sdks_expect_of_throttling() -> None:
    with emulated(throttle=2) as emulator:
        queue = queue_with_share(emulator, "standard", 1)
        queue.submit("share")
        queue.submit("share")
        with pytest.raises(ClientError) as caught:
            queue.submit("share")
        answer = caught.value.response
        assert answer["Error"] == {"Code": "TooManyRequestsException", "Message": "Too Many Requests"}
        assert answer["ResponseMetadata"]["HTTPStatusCode"] == 429
        assert len(queue.listed(jobStatus="SUBMITTED")) == 2
        emulator.advance(0.5)
        assert queue.submit("share")


@pytest.mark.parametrize("mode", ["standard", "legacy"])
def test_boto3_submits_again_by_itself_when_it_is_throttled(mode: str) -> None:
    with emulated(throttle=1) as emulator:
        queue = queue_with_share(emulator, mode, 2)
        queue.submit("share")
        queue.batch.meta.events.register_first("needs-retry.batch", lambda **_: emulator.advance(1))
        answers: list[dict[str, Any]] = []
        queue.batch.meta.events.register(
            "after-call.batch.SubmitServiceJob", lambda parsed, **_: answers.append(parsed)
        )
        queue.submit("share")
        assert [answer["ResponseMetadata"]["RetryAttempts"] for answer in answers] == [1]


def test_the_rate_is_of_each_account_and_region_and_allows_a_second_worth_at_once() -> None:
    clock = SteppedClock()
    throttle = Throttle(5, clock.waited)

    def admitted(region: str) -> int:
        return [throttle.admits("123456789012", region) for _ in range(20)].count(True)

    assert (admitted("us-west-2"), admitted("us-west-2"), admitted("eu-west-1")) == (5, 0, 5)
    clock.advance(400)
    assert admitted("us-west-2") == 2
    clock.advance(60_000)
    assert admitted("us-west-2") == 5
    with throttle.suspended():
        assert admitted("us-west-2") == 20
    assert admitted("us-west-2") == 0


def test_a_job_waits_for_capacity_that_sagemaker_does_not_have() -> None:
    with emulated(assumptions=Assumptions.model_validate({"capacity_retry_seconds": "5m"})) as emulator:
        queue = EmulatedQueue(emulator, capacity={G5: 3, P5: 1}).create()
        queue.create_share("share", {G5: 3, P5: 1})
        emulator.advance(SETTLED)
        running = queue.submit("share", serviceRequestPayload=training_request({P5: 1}))
        emulator.advance(1)
        emulator.make_unavailable(P5, "12m")
        emulator.advance("5m")
        waiting = queue.submit("share", serviceRequestPayload=training_request({P5: 1}))
        other = queue.submit("share")
        emulator.advance(1)
        assert queue.statuses(running, waiting, other) == ["SUCCEEDED", "SCHEDULED", "RUNNING"]
        assert "statusReason" not in queue.job(waiting)
        emulator.run_until_idle()
        job = queue.job(waiting)
        assert (job["status"], job["attempts"][0]["startedAt"]) == ("SUCCEEDED", job["startedAt"])
        assert len(job["attempts"]) == 1
        assert job["startedAt"] - job["createdAt"] == 2 * 300_000


def test_a_job_that_sagemaker_has_no_capacity_for_is_runnable_and_says_why() -> None:
    with emulated(assumptions=Assumptions.model_validate({"capacity_retry_seconds": "5m"})) as emulator:
        queue = EmulatedQueue(emulator).create()
        queue.create_shares("share")
        emulator.make_unavailable(G5, "1h")
        low = queue.submit("share")
        emulator.advance("4m")
        high = queue.submit("share", schedulingPriority=1)
        emulator.advance("3m")
        assert queue.statuses(low, high) == ["RUNNABLE", "SCHEDULED"]
        assert queue.job(low)["statusReason"] == NO_INSTANCES


def test_resources_change_as_slowly_as_is_asked_for() -> None:
    with emulated(settling="10m") as emulator:
        queue = EmulatedQueue(emulator)
        queue.create_environment("environment", {G5: 1})

        def status() -> str:
            return str(queue.batch.describe_service_environments()["serviceEnvironments"][0]["status"])

        emulator.advance("9m")
        assert status() == "CREATING"
        emulator.advance("1m")
        assert status() == "VALID"
        queue.batch.update_service_environment(serviceEnvironment="environment", state="DISABLED")
        assert status() == "UPDATING"
