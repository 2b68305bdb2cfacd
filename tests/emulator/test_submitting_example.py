"""examples/submit_jobs.py, against the emulator."""

import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from emulated_queue import EmulatedQueue

EXAMPLE = Path(__file__).parents[2] / "examples" / "submit_jobs.py"
Main = Callable[[list[str]], int]


@pytest.fixture
def main(queue: EmulatedQueue, monkeypatch: pytest.MonkeyPatch) -> Main:
    """The program, with time that goes on while it sleeps, in an account with a queue."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
    monkeypatch.setattr("time.sleep", queue.emulator.advance)
    queue.create_shares("share")
    program: Main = runpy.run_path(str(EXAMPLE))["main"]
    return program


def arguments(**more: str) -> list[str]:
    given = {
        "queue": "queue",
        "share": "share",
        "role": "arn:aws:iam::123456789012:role/training",
        "image": "123456789012.dkr.ecr.us-west-2.amazonaws.com/training:1",
        "output": "s3://bucket/models",
    } | more
    return [word for name, value in given.items() for word in (f"--{name.replace('_', '-')}", value)]


def test_its_jobs_run_one_by_one_and_the_last_goes_first(
    main: Main, queue: EmulatedQueue, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments()) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "submitted 3 jobs to share",
        "hello-3 has priority 2 now, and goes before the others that wait",
    ]
    running = [line.split()[0] for line in lines if " RUNNING" in line]
    assert running == ["hello-3", "hello-1", "hello-2"]
    job = queue.batch.list_service_jobs(jobQueue="queue", jobStatus="SUCCEEDED")["jobSummaryList"][0]
    described = queue.job(job["jobId"])
    assert described["preemptionConfiguration"] == {"preemptionRetriesBeforeTermination": 5}
    assert described["tags"] == {"batch-quota:quota-share": "queue/share"}


def test_a_job_that_fails_is_told_of_and_is_the_exit_status(
    main: Main, queue: EmulatedQueue, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminated: list[str] = []

    def sleep(seconds: float) -> None:
        queue.emulator.advance(seconds)
        if not terminated:
            (job,) = queue.batch.list_service_jobs(jobQueue="queue")["jobSummaryList"]
            terminated.append(job["jobId"])
            queue.batch.terminate_service_job(jobId=job["jobId"], reason="not needed")

    monkeypatch.setattr("time.sleep", sleep)
    assert main(arguments(jobs="1")) == 1
    assert "hello-1 FAILED not needed" in capsys.readouterr().out


def test_its_help_says_how_to_run_it(main: Main, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "python examples/submit_jobs.py --queue ml-training-queue" in capsys.readouterr().out
