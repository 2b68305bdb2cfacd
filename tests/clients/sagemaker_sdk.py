"""AWS's example notebook for quota management, by the SageMaker Python SDK: runs in a virtual environment of its own.

Prints what it saw as JSON. Source: v3-examples/training-examples/aws_batch/sm-training-queues_quota-management.ipynb in
aws/sagemaker-python-sdk. What it adds: how long jobs run, which the emulator is told by an environment variable.
"""

import json
import sys
import time
from collections.abc import Callable

from sagemaker.train import ModelTrainer
from sagemaker.train.aws_batch.training_queue import TrainingQueue
from sagemaker.train.aws_batch.training_queued_job import TrainingQueuedJob
from sagemaker.train.configs import Compute, OutputDataConfig, StoppingCondition

PATIENCE = 60
IMAGE = "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.5-cpu-py311"


def trainer(name: str) -> ModelTrainer:
    return ModelTrainer(
        training_image=IMAGE,
        role="arn:aws:iam::123456789012:role/training",
        base_job_name=name,
        compute=Compute(instance_type="ml.g5.xlarge", instance_count=1, volume_size_in_gb=30),
        stopping_condition=StoppingCondition(max_runtime_in_seconds=86_400),
        output_data_config=OutputDataConfig(s3_output_path="s3://bucket/output"),
        environment={"BATCH_QUOTA_RUNTIME": "1h"},
    )


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > deadline:
            sys.exit("waited in vain")
        time.sleep(0.05)


def status(job: TrainingQueuedJob) -> str:
    return str(job.describe()["status"])


def main(queue_name: str) -> None:
    queue = TrainingQueue(queue_name)

    def submit(name: str, share: str, priority: int) -> TrainingQueuedJob:
        return queue.submit(
            trainer(name),
            inputs=None,
            job_name=name,
            priority=priority,
            quota_share_name=share,
            preemption_config={"preemptionRetriesBeforeTermination": 5},
        )

    seen: dict[str, object] = {}
    jobs = {
        "qs1_job_high": submit("qs1-job-high", "QS1", 3),
        "qs1_job_med": submit("qs1-job-med", "QS1", 2),
        "qs1_job_low": submit("qs1-job-low", "QS1", 1),
    }

    def statuses() -> dict[str, str]:
        return {name: status(job) for name, job in jobs.items()}

    until(lambda: list(statuses().values()) == ["RUNNING", "RUNNING", "RUNNABLE"])
    running = queue.list_jobs_by_share(status="RUNNING", quota_share_name="QS1")
    seen["running in QS1"] = sorted(job.job_name for job in running)
    jobs["qs2_job_1"] = submit("qs2-job-1", "QS2", 1)
    until(lambda: status(jobs["qs2_job_1"]) == "RUNNING")
    seen["after the claim of QS2"] = statuses()
    seen["preempted by it"] = jobs["qs1_job_med"].describe()["preemptionSummary"]["preemptedAttemptCount"]
    jobs["qs1_job_low"].update(scheduling_priority=4)
    until(lambda: status(jobs["qs1_job_low"]) == "RUNNING")
    seen["after the update"] = statuses()
    attached = jobs["qs1_job_low"].get_model_trainer()
    seen["training job"] = attached._latest_training_job.training_job_status
    jobs["qs1_job_med"].terminate("not needed any more")
    until(lambda: status(jobs["qs1_job_med"]) == "FAILED")
    seen["the terminated job says"] = jobs["qs1_job_med"].describe()["statusReason"]
    waited = jobs["qs1_job_low"].wait(timeout=PATIENCE)
    seen["waited for"] = waited["status"]
    sys.stdout.write(f"{json.dumps(seen)}\n")


if __name__ == "__main__":
    main(sys.argv[1])
