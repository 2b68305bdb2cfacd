"""A server that is killed while clients talk to it."""

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from emulated_queue import client
from emulator_process import PATIENCE, emulate
from remote_queue import RemoteQueue

CLIENTS = 4
ENOUGH = 25
"""Acknowledged submissions of the first client after which the server is killed."""


@pytest.mark.slow
def test_a_killed_server_has_lost_no_answered_call_when_it_starts_again(tmp_path: Path) -> None:
    state = str(tmp_path / "emulator.state")
    with emulate("--settling", "0", "--state", state) as (endpoint, process):
        RemoteQueue(endpoint).create({"share": 1})

        def submit_on(number: int) -> list[str]:
            queue, acknowledged = RemoteQueue(endpoint), []
            try:
                while True:
                    acknowledged.append(queue.submit("share", f"job-{number}-{len(acknowledged)}"))
                    if (number, len(acknowledged)) == (0, ENOUGH):
                        process.send_signal(signal.SIGKILL)
            except (BotoCoreError, ClientError):
                return acknowledged

        with ThreadPoolExecutor(CLIENTS) as pool:
            acknowledged = [job for jobs in pool.map(submit_on, range(CLIENTS)) for job in jobs]
        assert process.wait(PATIENCE) == -signal.SIGKILL
    assert len(acknowledged) >= ENOUGH
    with emulate("--settling", "0", "--state", state) as (endpoint, process):
        queue = RemoteQueue(endpoint)
        found = queue.all_jobs()
        assert set(acknowledged) <= set(found)
        assert len(found) <= len(acknowledged) + CLIENTS  # those whose clients had no answer yet
        iam = client("iam", endpoint_url=endpoint, config=Config(retries={"total_max_attempts": 1}))
        assert iam.list_roles()["Roles"] == []
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 0
