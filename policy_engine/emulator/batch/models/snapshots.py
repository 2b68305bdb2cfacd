"""GetJobQueueSnapshot: the front of each quota share, and who uses how much."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from policy_engine.emulator.batch.models.job_queues import TrainingQueue
from policy_engine.emulator.batch.models.service_job import ServiceJob
from policy_engine.emulator.batch.models.service_jobs import ServiceJobBackend
from policy_engine.emulator.fronts import Front, fronts
from policy_engine.scheduler import JobStatus


class SnapshotBackend(ServiceJobBackend):
    """GetJobQueueSnapshot."""

    def get_job_queue_snapshot(self, identifier: str) -> dict[str, Any]:
        """GetJobQueueSnapshotResponse. As in AWS's example, `frontOfQueue` is empty in a queue with quota shares."""
        queue, now = self.get_training_queue(identifier), self.now
        schedule = queue.history.schedule(now)
        outcome, jobs = schedule.outcome, self.seen_jobs_of(queue, schedule)
        first = fronts(outcome, np.fromiter((job.priority for job in jobs), dtype=np.int64, count=len(jobs)))
        dispatched = [jobs[row] for row in np.flatnonzero(outcome.jobs.status == JobStatus.RUNNING).tolist()]
        shares = [share.name for share in self.quota_shares_of(queue)]
        used = {name: usage for name in shares if (usage := _usage(job for job in dispatched if job.share == name))}
        return {
            "frontOfQueue": {"jobs": [], "lastUpdatedAt": now},
            "frontOfQuotaShares": {
                "quotaShares": {name: self._front(queue, jobs, first.get(name)) for name in shares},
                "lastUpdatedAt": now,
            },
            "queueUtilization": {
                "totalCapacityUsage": _as_list(_usage(dispatched)),
                "quotaShareUtilization": {
                    "topCapacityUtilization": [
                        {"quotaShareName": name, "capacityUsage": _as_list(used[name])}
                        for name in sorted(used, key=lambda name: -used[name].total())
                    ]
                },
                "lastUpdatedAt": now,
            },
        }

    def _front(self, queue: TrainingQueue, jobs: Sequence[ServiceJob], front: Front | None) -> list[dict[str, Any]]:
        """The job, with the time since when none has been before it."""
        if front is None:
            return []
        job = jobs[front.row]
        latest = job.state(self.now).latest
        runnable_since = job.created_at if latest is None or latest.stopped_at is None else latest.stopped_at
        since = max(runnable_since, job.priority_since, queue.history.started_at + front.free_since)
        return [{"jobArn": job.arn, "earliestTimeAtPosition": since}]


def _usage(jobs: Iterable[ServiceJob]) -> Counter[str]:
    """Instances of each type that dispatched jobs hold."""
    used: Counter[str] = Counter()
    for job in jobs:
        used.update(job.training.need)
    return used


def _as_list(usage: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"capacityUnit": unit, "quantity": float(instances)} for unit, instances in usage.items()]
