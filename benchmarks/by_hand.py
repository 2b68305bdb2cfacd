"""The rules of quota shares as somebody would write them by hand, for the heapq loop and the SimPy model.

In: capacity limits, RESERVE, LEND and LEND_AND_BORROW, strict heads, entitled heads in declaration order, borrowing by
submission time, cross-share preemption of the youngest borrowing jobs with pruning, victims back to their old place.

Left out against the replay: stopping takes no time, so there are no claims and nothing is set aside; each event has a
pass of its own, where the replay applies all events of an instant first; priorities and in-share preemption,
checkpoints, preemption retries, time-outs, start-up times, control events, borrow limits, misconfigured jobs, jobs of
several instance types, and any record but who started when, and who was preempted how often.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, merge

from policy_engine.topology import Topology
from policy_engine.trace import JobTrace


@dataclass(frozen=True, slots=True)
class Workload:
    """A trace as lists, one entry a job in submission order. Times in ms."""

    submitted_at: list[int]
    runtime: list[int]
    share: list[int]
    unit: list[int]
    count: list[int]


def workload_of(trace: JobTrace, topology: Topology) -> Workload:
    """A trace whose jobs need one instance type each and whose shares are in the topology's order."""
    if trace.share_names != tuple(owned.name for owned in topology.quota_shares()):
        raise ValueError("the trace's shares are not in the order of the topology")
    return Workload(
        trace.submitted_at.tolist(),
        trace.runtime.tolist(),
        trace.share.tolist(),
        trace.needs.argmax(axis=1)[trace.need].tolist(),
        trace.needs.max(axis=1)[trace.need].tolist(),
    )


class Quotas:
    """Who waits, who holds what, and who may go next. `start` and `stop` are called for each job that does."""

    def __init__(
        self,
        topology: Topology,
        units: tuple[str, ...],
        jobs: Workload,
        start: Callable[[int], None],
        stop: Callable[[int], None],
    ) -> None:
        self.jobs = jobs
        self.start = start
        self.stop = stop
        self.now = 0
        shares = [owned.share for owned in topology.quota_shares()]
        self.lends = [share.strategy.lends for share in shares]
        self.borrows = [share.strategy.borrows for share in shares]
        self.limit = [[share.capacity.get(unit, 0) for share in shares] for unit in units]
        self.used = [[0] * len(shares) for _ in units]
        self.room = [topology.capacity[unit] for unit in units]
        self.reserved = [
            sum(limit for limit, lends in zip(row, self.lends, strict=True) if not lends) for row in self.limit
        ]
        """Idle of RESERVE shares."""
        self.pool = [sum(limit for limit, lends in zip(row, self.lends, strict=True) if lends) for row in self.limit]
        """Idle of the shares that lend, minus what is borrowed."""
        self.queue: list[list[int]] = [[] for _ in shares]
        self.waiting: list[set[int]] = [set() for _ in units]
        """Shares whose head needs the unit."""
        self.running: list[list[dict[tuple[int, int], None]]] = [[{} for _ in shares] for _ in units]
        """Start time and number of each job, in the order in which they started."""
        self.started_at: list[int] = [0] * len(jobs.share)
        self.preemptions = 0

    def submit(self, job: int, now: int) -> None:
        """A job comes in."""
        self.now = now
        if self._enqueue(job):
            self._settle(self.jobs.unit[job])

    def end(self, job: int, now: int) -> None:
        """A job has ended."""
        self.now = now
        self._release(job)
        self._settle(self.jobs.unit[job])

    def _enqueue(self, job: int) -> bool:
        """Whether the job is now the head of its share."""
        share = self.jobs.share[job]
        queue = self.queue[share]
        if queue and queue[0] < job:
            heappush(queue, job)
            return False
        if queue:
            self.waiting[self.jobs.unit[queue[0]]].discard(share)
        heappush(queue, job)
        self.waiting[self.jobs.unit[job]].add(share)
        return True

    def _settle(self, unit: int) -> None:
        """Start and stop jobs until no head that is touched by the change of `unit` can go."""
        changed = [unit]
        while changed:
            unit = changed.pop()
            while self.waiting[unit]:
                share = self._entitled_head(unit)
                if share < 0:
                    share = self._borrowing_head(unit)
                if share < 0:
                    break
                self._dispatch(share, unit)
                if self.queue[share]:
                    head_unit = self.jobs.unit[self.queue[share][0]]
                    if head_unit != unit:
                        changed.append(head_unit)

    def _entitled_head(self, unit: int) -> int:
        """The first share whose head goes within its limits, after preemption if need be; else -1."""
        used, limit = self.used[unit], self.limit[unit]
        for share in sorted(self.waiting[unit]):
            count = self.jobs.count[self.queue[share][0]]
            if used[share] + count > limit[share]:
                continue
            short = count - self._reachable(share, unit)
            if short <= 0:
                return share
            victims = self._victims(unit, short)
            if victims:
                for victim in victims:
                    self._preempt(victim)
                return share
        return -1

    def _borrowing_head(self, unit: int) -> int:
        """The share with the earliest head that may borrow what it needs, else -1."""
        used, limit = self.used[unit], self.limit[unit]
        first, found = len(self.jobs.share), -1
        for share in self.waiting[unit]:
            job = self.queue[share][0]
            count = self.jobs.count[job]
            if job > first or not self.borrows[share] or limit[share] == 0 or used[share] + count <= limit[share]:
                continue
            own_idle = max(0, limit[share] - used[share])
            if count - own_idle <= self.pool[unit] - own_idle and count <= self._reachable(share, unit):
                first, found = job, share
        return found

    def _reachable(self, share: int, unit: int) -> int:
        """What is free and not the reserve of another share."""
        reachable = self.room[unit] - self.reserved[unit]
        if not self.lends[share]:
            reachable += max(0, self.limit[unit][share] - self.used[unit][share])
        return reachable

    def _victims(self, unit: int, short: int) -> list[int]:
        """The youngest borrowing jobs that cover what is short, none that can be spared; empty if they do not."""
        used, limit, running = self.used[unit], self.limit[unit], self.running[unit]
        over = {share: used[share] - limit[share] for share in range(len(used)) if used[share] > limit[share]}
        youngest: Iterator[tuple[int, int]] = merge(*(reversed(running[share]) for share in over), reverse=True)
        taken: list[int] = []
        for _, job in youngest:
            share = self.jobs.share[job]
            if over[share] > 0:
                taken.append(job)
                over[share] -= self.jobs.count[job]
                short -= self.jobs.count[job]
                if short <= 0:
                    break
        else:
            return []
        for job in taken[::-1]:
            if short + self.jobs.count[job] <= 0:
                short += self.jobs.count[job]
                taken.remove(job)
        return taken

    def _dispatch(self, share: int, unit: int) -> None:
        job = heappop(self.queue[share])
        self.waiting[unit].discard(share)
        if self.queue[share]:
            self.waiting[self.jobs.unit[self.queue[share][0]]].add(share)
        self.running[unit][share][self.now, job] = None
        self.started_at[job] = self.now
        self._hold(share, unit, self.jobs.count[job])
        self.start(job)

    def _preempt(self, job: int) -> None:
        self.preemptions += 1
        self._release(job)
        self._enqueue(job)
        self.stop(job)

    def _release(self, job: int) -> None:
        share, unit = self.jobs.share[job], self.jobs.unit[job]
        del self.running[unit][share][self.started_at[job], job]
        self._hold(share, unit, -self.jobs.count[job])

    def _hold(self, share: int, unit: int, more: int) -> None:
        """The share holds `more` of the unit than before."""
        before = self.used[unit][share] - self.limit[unit][share]
        after = before + more
        idle_more = max(0, -after) - max(0, -before)
        self.used[unit][share] += more
        self.room[unit] -= more
        if self.lends[share]:
            self.pool[unit] += idle_more - max(0, after) + max(0, before)
        else:
            self.reserved[unit] += idle_more
