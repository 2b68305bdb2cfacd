"""The app of this repository, deployed by the real CDK CLI into the emulator, used by boto3, changed and destroyed.

`make e2e` runs it and shows each step.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from emulated_queue import G5, training_request
from emulator_process import PATIENCE, emulate

pytestmark = pytest.mark.slow

CHECKOUT = Path(__file__).parents[2]
SPEED = 600
"""A minute of the queue passes in a tenth of a second."""
TOPOLOGY = """\
name: end-to-end
capacity: {{ml.g5.xlarge: 4}}
teams:
  search:
    submitters: ["arn:aws:iam::123456789012:role/search"]
    shares:
      search: {{capacity: {{ml.g5.xlarge: {search}}}, strategy: LEND}}
  research:
    submitters: ["arn:aws:iam::123456789012:role/research"]
    shares:
      research: {{capacity: {{ml.g5.xlarge: {research}}}, strategy: LEND_AND_BORROW, borrow_limit: 100}}
"""
QUEUE = "end-to-end-queue"
STEP = 0.05


class Account:
    """The emulated account: what `cdk` and boto3 do in it."""

    def __init__(self, endpoint: str, folder: Path) -> None:
        self.topology = folder / "topology.yaml"
        self._output = folder / "cdk.out"
        credentials = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": "us-west-2"}
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            **{name.upper(): value for name, value in credentials.items() if name != "region_name"},
            "AWS_REGION": "us-west-2",
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_EC2_METADATA_DISABLED": "true",
            "CI": "true",  # what the CLI tells then goes to stdout
        }
        self._session = boto3.Session(**credentials)
        self._endpoint = endpoint
        self.batch = self.client("batch")

    def client(self, service: str) -> Any:  # noqa: ANN401 (boto3 makes its clients at run time)
        return self._session.client(service, endpoint_url=self._endpoint)

    def describe(self, *, search: int, research: int) -> None:
        """Write the topology with these limits."""
        self.topology.write_text(TOPOLOGY.format(search=search, research=research), encoding="utf-8")

    def cdk(self, *arguments: str) -> str:
        """What the command prints."""
        command = ["cdk", *arguments, "-c", f"topology={self.topology}", "--output", str(self._output), "--no-color"]
        say(f"$ {' '.join(['cdk', *arguments])}")
        run = subprocess.run(
            command, cwd=CHECKOUT, env=self._environment, capture_output=True, text=True, check=False, timeout=300
        )
        printed = run.stdout + run.stderr
        assert run.returncode == 0, printed
        return printed

    def submit(self, share: str, name: str, instances: int, runtime: str) -> str:
        """The id of a new job."""
        parameters = {"BATCH_QUOTA_RUNTIME": runtime}
        answer = self.batch.submit_service_job(
            jobName=name,
            jobQueue=QUEUE,
            quotaShareName=share,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=training_request({G5: instances}, HyperParameters=parameters),
            tags={"batch-quota:quota-share": f"{QUEUE}/{share}"},
        )
        say(f"{name}: {instances} {G5} for {runtime} in the share {share}")
        return str(answer["jobId"])

    def job(self, job_id: str) -> dict[str, Any]:
        return dict(self.batch.describe_service_job(jobId=job_id))

    def await_status(self, job_id: str, status: str) -> dict[str, Any]:
        """The job once it has this status."""
        until(lambda: self.job(job_id)["status"] == status)
        job = self.job(job_id)
        say(f"{job['jobName']} is {status}")
        return job

    def left(self) -> list[str]:
        """ARNs of all that the stack is there for."""
        environments = self.batch.describe_service_environments()["serviceEnvironments"]
        queues = self.batch.describe_job_queues()["jobQueues"]
        policies = self.batch.list_scheduling_policies()["schedulingPolicies"]
        return [
            *(each["serviceEnvironmentArn"] for each in environments),
            *(each["jobQueueArn"] for each in queues),
            *(each["arn"] for each in policies),
            *(each["Arn"] for each in self.client("iam").list_policies(Scope="Local")["Policies"]),
            *(each["FunctionArn"] for each in self.client("lambda").list_functions()["Functions"]),
            *(each["TopicArn"] for each in self.client("sns").list_topics()["Topics"]),
            *(each["Arn"] for each in self.client("events").list_rules()["Rules"]),
        ]


def say(line: str) -> None:
    """Shown by `make e2e`."""
    print(line, flush=True)  # noqa: T201


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(STEP)


@pytest.fixture(scope="module")
def account(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Account]:
    """An account that has been bootstrapped."""
    with emulate("--speed", str(SPEED), "--assume", "stop_seconds=30s") as (endpoint, _):
        emulated = Account(endpoint, tmp_path_factory.mktemp("e2e"))
        for name in ("search", "research"):  # a policy can only be attached to a role that is there
            emulated.client("iam").create_role(RoleName=name, AssumeRolePolicyDocument='{"Statement": []}')
        emulated.describe(search=2, research=2)
        assert "bootstrapped" in emulated.cdk("bootstrap")
        yield emulated


def shares_of(account: Account) -> dict[str, dict[str, Any]]:
    """The queue's shares by name."""
    return {share["quotaShareName"]: share for share in account.batch.list_quota_shares(jobQueue=QUEUE)["quotaShares"]}


def limits_of(shares: dict[str, dict[str, Any]]) -> dict[str, int]:
    return {name: share["capacityLimits"][0]["maxCapacity"] for name, share in shares.items()}


def test_a_topology_is_deployed_used_changed_and_destroyed(account: Account) -> None:
    before = account.left()

    account.cdk("deploy", "--require-approval", "never")
    shares = {
        share["quotaShareName"]: share for share in account.batch.list_quota_shares(jobQueue=QUEUE)["quotaShares"]
    }
    assert {name: share["status"] for name, share in shares.items()} == {"search": "VALID", "research": "VALID"}
    assert limits_of(shares) == {"search": 2, "research": 2}
    assert shares["search"]["resourceSharingConfiguration"] == {"strategy": "LEND"}
    assert shares["research"]["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 100}
    say(f"the shares are as declared: {', '.join(sorted(shares))}")
    assert "There were no differences" in account.cdk("diff")

    own, borrowed = (account.submit("research", name, 2, "10h") for name in ("own", "borrowed"))
    account.await_status(own, "RUNNING")
    account.await_status(borrowed, "RUNNING")
    claiming = account.submit("search", "claiming", 1, "1h")
    account.await_status(claiming, "RUNNING")
    preempted = account.job(borrowed)
    assert preempted["preemptionSummary"]["preemptedAttemptCount"] == 1
    assert account.job(own).get("preemptionSummary", {}).get("preemptedAttemptCount", 0) == 0
    say("borrowed was preempted for claiming, own was not")

    large = account.submit("search", "large", 3, "1h")
    account.await_status(claiming, "SUCCEEDED")
    assert account.job(large)["status"] == "RUNNABLE"
    say("large is RUNNABLE: it needs more than the limit of search")
    account.describe(search=3, research=1)
    assert "MaxCapacity" in account.cdk("diff")
    account.cdk("deploy", "--require-approval", "never")
    changed = shares_of(account)
    assert limits_of(changed) == {"search": 3, "research": 1}
    assert {share["quotaShareArn"] for share in changed.values()} == {
        share["quotaShareArn"] for share in shares.values()
    }
    say("the limits were changed in place")
    account.await_status(large, "RUNNING")
    assert "There were no differences" in account.cdk("diff")

    account.cdk("destroy", "--force")
    assert account.left() == before
    say("nothing is left")
