"""What each quota share of a job queue uses, borrows and lends, as CloudWatch metrics. AWS Lambda runs this file.

AWS Batch has no metrics of a quota share. GetJobQueueSnapshot says how many instances each share uses, and
ListQuotaShares what the shares' limits are; the rest follows from these two. Each line printed is a document of the
embedded metric format, which CloudWatch Logs turns into metrics. Nothing but the standard library and boto3 is needed,
both of which Lambda's Python has.
"""

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import boto3

UNITS = {
    "CapacityUsage": "Count",
    "CapacityBorrowed": "Count",
    "CapacityLent": "Count",
    "FrontJobAge": "Seconds",
}
"""The metrics that are published, with the units that CloudWatch knows them by."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """A quota share: its strategy and limits from ListQuotaShares, the rest from the snapshot."""

    name: str
    strategy: str
    limits: Mapping[str, float]
    usage: Mapping[str, float]
    at_front_since: int | None
    """When the job at the front got there, in milliseconds since the epoch; None if no job waits."""

    @property
    def units(self) -> list[str]:
        """All capacity units that the share has a limit for, or uses."""
        return sorted({*self.limits, *self.usage})

    def used(self, unit: str) -> float:
        """What its jobs hold, borrowed capacity included."""
        return self.usage.get(unit, 0.0)

    def borrowed(self, unit: str) -> float:
        """What it uses above its limit, if it is a share that borrows.

        Another share is above its limit only when the limit was lowered under running jobs.
        """
        above = self.used(unit) - self.limits.get(unit, 0.0)
        return max(0.0, above) if self.strategy == "LEND_AND_BORROW" else 0.0

    def lendable(self, unit: str) -> float:
        """What is idle below its limit, if it is a share that lends."""
        idle = self.limits.get(unit, 0.0) - self.used(unit)
        return max(0.0, idle) if self.strategy in {"LEND", "LEND_AND_BORROW"} else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Measurement:
    """Values that belong to the same dimensions."""

    values: Mapping[str, float]
    dimensions: Mapping[str, str]
    published_by: Sequence[Sequence[str]]
    """Names of dimensions: one set for each way that CloudWatch shall aggregate the values."""


def handler(_event: object, _context: object) -> None:
    """Publish the metrics of the queue that the environment names. Lambda calls it on a schedule."""
    publish(boto3.client("batch"), os.environ["JOB_QUEUE_ARN"], os.environ["METRIC_NAMESPACE"])


def publish(batch: Any, job_queue_arn: str, namespace: str) -> None:  # noqa: ANN401 - boto3 makes its clients' classes
    """Print the metrics of a queue, one document a line.

    :param batch: boto3's client of AWS Batch.
    :raises RuntimeError: If boto3 is older than quota shares. It would leave them out without a word.
    """
    if not hasattr(batch, "list_quota_shares"):
        raise RuntimeError(
            f"boto3 {boto3.__version__} knows no quota shares; give the function a layer with a newer one"
        )
    snapshot = batch.get_job_queue_snapshot(jobQueue=job_queue_arn)
    pages = batch.get_paginator("list_quota_shares").paginate(jobQueue=job_queue_arn)
    shares = read_shares((share for page in pages for share in page["quotaShares"]), snapshot)
    now = time.time_ns() // 1_000_000
    queue = job_queue_arn.rpartition("/")[2]
    for measurement in (*capacity(shares, queue), *waiting(shares, queue, now)):
        print(json.dumps(embedded(measurement, namespace, now)))  # noqa: T201


def read_shares(listed: Iterable[Mapping[str, Any]], snapshot: Mapping[str, Any]) -> list[Share]:
    """The shares that are listed. One that the snapshot says nothing of uses nothing and has no job at its front."""
    utilization = snapshot.get("queueUtilization", {}).get("quotaShareUtilization", {})
    usage = {
        share["quotaShareName"]: {used["capacityUnit"]: used["quantity"] for used in share.get("capacityUsage", [])}
        for share in utilization.get("topCapacityUtilization", [])
    }
    fronts = snapshot.get("frontOfQuotaShares", {}).get("quotaShares", {})
    return [
        Share(
            name=share["quotaShareName"],
            strategy=share["resourceSharingConfiguration"]["strategy"],
            limits={limit["capacityUnit"]: limit["maxCapacity"] for limit in share["capacityLimits"]},
            usage=usage.get(share["quotaShareName"], {}),
            at_front_since=min(
                (job["earliestTimeAtPosition"] for job in fronts.get(share["quotaShareName"], [])), default=None
            ),
        )
        for share in listed
    ]


def capacity(shares: Sequence[Share], queue: str) -> Iterator[Measurement]:
    """What each share uses, borrows and lends of each unit.

    AWS does not say who lends to whom. All that is borrowed of a unit counts as lent by the shares with idle capacity
    of it, by each in proportion to what it has idle, and by none more than that.
    """
    for share in shares:
        for unit in share.units:
            lendable = sum(other.lendable(unit) for other in shares)
            borrowed = sum(other.borrowed(unit) for other in shares)
            lent_part = min(1.0, borrowed / lendable) if lendable else 0.0
            dimensions = {"JobQueueName": queue, "QuotaShareName": share.name, "CapacityUnit": unit}
            yield Measurement(
                values={
                    "CapacityUsage": share.used(unit),
                    "CapacityBorrowed": share.borrowed(unit),
                    "CapacityLent": share.lendable(unit) * lent_part,
                },
                dimensions=dimensions,
                published_by=[list(dimensions)],
            )


def waiting(shares: Sequence[Share], queue: str, now: int) -> Iterator[Measurement]:
    """For how long the job at the front of each share has been there, 0 if no job waits.

    Also by queue alone: the maximum is the age of the oldest front job of all shares.
    """
    for share in shares:
        age = 0 if share.at_front_since is None else max(0, now - share.at_front_since)
        dimensions = {"JobQueueName": queue, "QuotaShareName": share.name}
        yield Measurement(
            values={"FrontJobAge": age / 1000}, dimensions=dimensions, published_by=[list(dimensions), ["JobQueueName"]]
        )


def embedded(measurement: Measurement, namespace: str, now: int) -> dict[str, object]:
    """A document of the embedded metric format, as the CloudWatch user guide specifies it."""
    directive = {
        "Namespace": namespace,
        "Dimensions": measurement.published_by,
        "Metrics": [{"Name": name, "Unit": UNITS[name]} for name in measurement.values],
    }
    return {
        "_aws": {"Timestamp": now, "CloudWatchMetrics": [directive]},
        **measurement.dimensions,
        **measurement.values,
    }
