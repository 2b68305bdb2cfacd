"""The rules of quota shares in a bare loop over Python's heapq."""

from heapq import heappop, heappush

from benchmarks.by_hand import Quotas, Workload
from policy_engine.topology import Topology


def replay_with_heapq(topology: Topology, units: tuple[str, ...], jobs: Workload) -> Quotas:
    """Replay until the last job has ended. Ends of one instant come before its submissions."""
    ends: list[tuple[int, int, int]] = []
    attempt = [0] * len(jobs.share)

    def start(job: int) -> None:
        heappush(ends, (quotas.now + jobs.runtime[job], job, attempt[job]))

    def stop(job: int) -> None:
        attempt[job] += 1

    quotas = Quotas(topology, units, jobs, start, stop)

    def end_until(time: float) -> None:
        while ends and ends[0][0] <= time:
            now, job, started_as = heappop(ends)
            if started_as == attempt[job]:
                quotas.end(job, now)

    for job, now in enumerate(jobs.submitted_at):
        end_until(now)
        quotas.submit(job, now)
    end_until(float("inf"))
    return quotas
