r"""Submit SageMaker training jobs to a quota share, and let the last of them go first.

Works the same with AWS and with the emulator, which AWS_ENDPOINT_URL names:

    python examples/submit_jobs.py --queue ml-training-queue --share search-background \
        --role arn:aws:iam::111122223333:role/search-training \
        --image 763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.5-gpu-py311 \
        --output s3://search-training/models

With AWS, jobs cost money. Who submits needs what `submitters` of a topology get: see docs/access.md.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from typing import Any

import boto3

JOB_TAG = "batch-quota:quota-share"
"""What the policies of a topology's teams know a share's jobs by."""
ENDED = {"SUCCEEDED", "FAILED"}


def training_request(arguments: argparse.Namespace) -> dict[str, Any]:
    """What SageMaker's CreateTrainingJob takes. AWS Batch reads the instances that it needs from ResourceConfig."""
    return {
        "TrainingJobName": "hello",
        "RoleArn": arguments.role,
        "AlgorithmSpecification": {
            "TrainingImage": arguments.image,
            "TrainingInputMode": "File",
            "ContainerEntrypoint": ["/bin/bash", "-c", "echo training; sleep 60"],
        },
        "OutputDataConfig": {"S3OutputPath": arguments.output},
        "ResourceConfig": {
            "InstanceType": arguments.instance_type,
            "InstanceCount": arguments.instances,
            "VolumeSizeInGB": 30,
        },
        "StoppingCondition": {"MaxRuntimeInSeconds": 3600},
    }


def submit(batch: Any, arguments: argparse.Namespace, number: int) -> str:  # noqa: ANN401 (boto3's clients have no type)
    """The id of a new job."""
    answer = batch.submit_service_job(
        jobName=f"hello-{number}",
        jobQueue=arguments.queue,
        quotaShareName=arguments.share,
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(training_request(arguments)),
        schedulingPriority=arguments.priority,
        # A preempted job starts anew; after so many times it fails instead. Unlimited if left out.
        preemptionConfiguration={"preemptionRetriesBeforeTermination": arguments.preemption_retries},
        retryStrategy={"attempts": 1},
        timeoutConfig={"attemptDurationSeconds": 7200},
        tags={JOB_TAG: f"{arguments.queue}/{arguments.share}"},
    )
    return str(answer["jobId"])


def read_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--queue", required=True, help="name of the job queue")
    parser.add_argument("--share", required=True, help="name of the quota share")
    parser.add_argument("--role", required=True, help="ARN of the role that the training jobs run as")
    parser.add_argument("--image", required=True, help="training image in Amazon ECR")
    parser.add_argument("--output", required=True, help="where in Amazon S3 the models go")
    parser.add_argument("--instance-type", default="ml.g5.xlarge", help="default: %(default)s")
    parser.add_argument("--instances", type=int, default=1, help="of each job; default: %(default)s")
    parser.add_argument("--jobs", type=int, default=3, help="how many to submit; default: %(default)s")
    parser.add_argument("--priority", type=int, default=1, help="0 to 9999, higher ones first; default: %(default)s")
    parser.add_argument("--preemption-retries", type=int, default=5, help="default: %(default)s")
    parser.add_argument("--poll", type=float, default=10, help="seconds between looks; default: %(default)s")
    return parser.parse_args(words)


def main(words: Sequence[str] | None = None) -> int:
    """Submit, reprioritize, and tell what becomes of the jobs. 1 if one of them failed."""
    arguments = read_arguments(words)
    batch = boto3.client("batch")
    jobs = [submit(batch, arguments, number) for number in range(1, arguments.jobs + 1)]
    tell(f"submitted {len(jobs)} jobs to {arguments.share}")
    batch.update_service_job(jobId=jobs[-1], schedulingPriority=arguments.priority + 1)
    tell(f"hello-{len(jobs)} has priority {arguments.priority + 1} now, and goes before the others that wait")
    shown: dict[str, str] = {}
    while True:
        described = [batch.describe_service_job(jobId=job) for job in jobs]
        for job in described:
            if shown.get(job["jobId"]) != job["status"]:
                shown[job["jobId"]] = job["status"]
                tell(f"{job['jobName']} {job['status']} {job.get('statusReason', '')}".rstrip())
        if ENDED.issuperset(job["status"] for job in described):
            return int(any(job["status"] == "FAILED" for job in described))
        time.sleep(arguments.poll)


def tell(line: str) -> None:
    """Say something at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
