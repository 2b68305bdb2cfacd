"""GetJobQueueSnapshot: the front of each quota share, and who uses how much."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from policy_engine.assumptions import RequeuePosition
from policy_engine.emulator.batch.models.service_job import ServiceJob
from policy_engine.emulator.batch.models.service_jobs import ServiceJobBackend
from policy_engine.emulator.schedule import JobState, Schedule, ServiceJobStatus

_Jobs = Sequence[tuple[ServiceJob, ServiceJobStatus]]


class SnapshotBackend(ServiceJobBackend):
    """GetJobQueueSnapshot."""

    def get_job_queue_snapshot(self, identifier: str) -> dict[str, Any]:
        """GetJobQueueSnapshotResponse. As in AWS's example, `frontOfQueue` is empty in a queue with quota shares."""
        queue, now = self.get_training_queue(identifier), self.now
        schedule = queue.history.schedule(now)
        of_share: dict[str, list[tuple[ServiceJob, ServiceJobStatus]]] = {
            share.name: [] for share in self.quota_shares_of(queue)
        }
        shares = list(of_share)
        for job in self.service_jobs_of(queue):
            of_share.setdefault(job.share, []).append((job, job.status_in(schedule)))
        used = {name: usage for name, jobs in of_share.items() if (usage := _usage(jobs))}
        return {
            "frontOfQueue": {"jobs": [], "lastUpdatedAt": now},
            "frontOfQuotaShares": {
                "quotaShares": {name: self._front(of_share[name], schedule, now) for name in shares},
                "lastUpdatedAt": now,
            },
            "queueUtilization": {
                "totalCapacityUsage": _as_list(sum(used.values(), Counter())),
                "quotaShareUtilization": {
                    "topCapacityUtilization": [
                        {"quotaShareName": name, "capacityUsage": _as_list(used[name])}
                        for name in sorted(filter(used.get, shares), key=lambda name: -used[name].total())
                    ]
                },
                "lastUpdatedAt": now,
            },
        }

    def _front(self, jobs: _Jobs, schedule: Schedule, now: int) -> list[dict[str, Any]]:
        """The first RUNNABLE job of a share, with the time since when none has been before it."""
        back = self.emulation.assumptions.requeue_position is RequeuePosition.BACK

        def place(job: ServiceJob) -> tuple[int, int, int]:
            preempted_at = schedule.last_preempted_at(job.job_id) if back else None
            return -job.priority, preempted_at or job.created_at, job.number

        placed = [(place(job), job, status) for job, status in jobs if status is not ServiceJobStatus.SUBMITTED]
        runnable = [(at, job) for at, job, status in placed if status is ServiceJobStatus.RUNNABLE]
        if not runnable:
            return []
        first, front = min(runnable)
        before = (schedule.last_runnable_at(job.job_id) or job.created_at for at, job, _ in placed if at < first)
        since = max([_runnable_since(front, front.state(now)), front.priority_since, *before])
        return [{"jobArn": front.arn, "earliestTimeAtPosition": since}]


def _runnable_since(job: ServiceJob, state: JobState) -> int:
    latest = state.latest
    return job.created_at if latest is None or latest.stopped_at is None else latest.stopped_at


def _usage(jobs: _Jobs) -> Counter[str]:
    """Instances of each type that dispatched jobs hold."""
    used: Counter[str] = Counter()
    for job, status in jobs:
        if status.dispatched:
            used.update(job.training.need)
    return used


def _as_list(usage: Counter[str]) -> list[dict[str, Any]]:
    return [{"capacityUnit": unit, "quantity": float(instances)} for unit, instances in usage.items()]
