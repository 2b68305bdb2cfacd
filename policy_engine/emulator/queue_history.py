"""All that has happened to one job queue, as what the scheduling model replays: a topology, a trace and control events.

A replay has one topology. Shares that come and go are in it from the start, without limits, and RESERVE: so they
neither lend nor borrow. Their creation and their deletion are control events, as every other change is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from policy_engine.assumptions import Assumptions
from policy_engine.emulator.faults import Outages
from policy_engine.emulator.schedule import Schedule
from policy_engine.emulator.submissions import Submission, Submissions
from policy_engine.scheduler import replay
from policy_engine.scheduler.machine_code import is_kept
from policy_engine.topology import Queue, QuotaShare, ResourceSharingStrategy, Team, TimeLimit, Topology
from policy_engine.trace import ControlEvent, Terminate, UpdateCapacity, UpdatePriority, UpdateShare


class HistoryError(Exception):
    """A change that a replay from the start cannot show without changing what was seen before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareTerms:
    """A quota share's limits and what it does with idle capacity, as the scheduler takes them."""

    limits: Mapping[str, int]
    strategy: ResourceSharingStrategy
    borrow_limit: int
    """Percent; -1 is unlimited. Means nothing for a share that does not borrow."""
    in_share_preemption: bool


_NO_TERMS = ShareTerms(limits={}, strategy=ResourceSharingStrategy.RESERVE, borrow_limit=0, in_share_preemption=False)
_NO_SHARE = QuotaShare(capacity={}, strategy=ResourceSharingStrategy.RESERVE)


class QueueHistory:
    """Takes down what happens to a queue, in the order in which it happens, and tells its state by replay.

    Times are ms since 1970-01-01 UTC. What happens in one millisecond is seen by the scheduler together, once that
    millisecond is over: `schedule(now)` shows what happened before `now`, so nothing that was shown ever changes.
    """

    def __init__(
        self,
        *,
        started_at: int,
        capacity: Mapping[str, int],
        time_limits: Sequence[TimeLimit],
        assumptions: Assumptions,
        outages: Outages | None = None,
    ) -> None:
        self.started_at = started_at
        self._first_capacity = dict(capacity)
        self._capacity = dict(capacity)
        self._time_limits = tuple(time_limits)
        self._assumptions = assumptions
        self._outages = Outages() if outages is None else outages
        self._shares: dict[str, None] = {}
        self._submissions = Submissions(started_at)
        self._events: list[ControlEvent] = []
        self._last: tuple[int | None, Schedule] | None = None
        self._outages_replayed = 0

    def set_share(self, name: str, terms: ShareTerms, at: int) -> None:
        """A share was created, or has new terms."""
        self._shares.setdefault(name)
        self._add(
            UpdateShare(
                at=self._since_start(at),
                share=name,
                limits=dict(terms.limits),
                strategy=terms.strategy,
                borrow_limit=terms.borrow_limit,
                in_share_preemption=terms.in_share_preemption,
            )
        )

    def remove_share(self, name: str, at: int) -> None:
        """A share was deleted: it lends nothing any more. Its jobs are for the caller to terminate."""
        self.set_share(name, _NO_TERMS, at)

    def set_capacity(self, capacity: Mapping[str, int], at: int) -> None:
        """The service environment has these limits, and no others."""
        for unit in {**self._capacity, **capacity}:
            if self._capacity.get(unit, 0) != capacity.get(unit, 0):
                self._add(UpdateCapacity(at=self._since_start(at), unit=unit, capacity=capacity.get(unit, 0)))
        self._capacity = dict(capacity)

    def set_time_limits(self, time_limits: Sequence[TimeLimit], now: int) -> None:
        """The queue has these RUNNABLE time-limit actions.

        They hold from the queue's start. Raises HistoryError if a job would have been ended by them before `now`, or
        one that the former ones ended would not have been.
        """
        seen, former = self.schedule(now), self._time_limits
        self._time_limits = tuple(time_limits)
        self._last = None
        if not self.schedule(now).shows_the_same_as(seen):
            self._time_limits = former
            self._last = None
            raise HistoryError("a job has been blocked for longer than these time limits allow, or was ended by others")

    def submit(self, job_id: str, submission: Submission) -> None:
        """A job was submitted, at `submission.at`."""
        self._submissions.add(job_id, submission)
        self._changed(submission.at)

    def update_priority(self, job_id: str, priority: int, at: int) -> None:
        """A job has a new scheduling priority."""
        self._add(UpdatePriority(at=self._since_start(at), job=job_id, priority=priority))

    def terminate(self, job_id: str, at: int) -> None:
        """A job was terminated. One that the scheduler has not seen yet, it never sees."""
        if self._submissions[job_id].at >= at:
            self._submissions = self._submissions.without(job_id)
            self._events = [event for event in self._events if not _is_about(event, job_id)]
            self._changed(at)
        else:
            self._add(Terminate(at=self._since_start(at), job=job_id))

    @property
    def has_jobs(self) -> bool:
        """Whether a job was ever submitted."""
        return len(self._submissions) > 0

    def schedule(self, now: int) -> Schedule:
        """What has become of all jobs when `now` begins."""
        return self._replayed(self._since_start(now) - 1)

    def whole_schedule(self) -> Schedule:
        """What becomes of all jobs if nothing else happens."""
        return self._replayed(None)

    def _add(self, event: ControlEvent) -> None:
        self._events.append(event)
        self._changed(self.started_at + event.at)

    def _changed(self, at: int) -> None:
        """Something happened. What a replay has shown of the time before it is still so."""
        if self._last is not None and (self._last[0] is None or self._last[0] >= self._since_start(at)):
            self._last = None

    def _since_start(self, at: int) -> int:
        return max(0, at - self.started_at)

    def _replayed(self, until: int | None) -> Schedule:
        if self._outages_replayed != len(self._outages):
            self._last = None
        if self._last is None or self._last[0] != until:
            trace = self._submissions.as_trace()
            # A queue is replayed at nearly every call, so machine code pays from the first job on, if it is there.
            use_compiled = True if is_kept() else None
            events = [*self._outages.events(self.started_at), *self._events]
            outcome = replay(self._topology(), trace, events=events, until=until, use_compiled=use_compiled)
            self._outages_replayed = len(self._outages)
            self._last = until, Schedule(outcome, self.started_at, self._submissions.row_of)
        return self._last[1]

    def _topology(self) -> Topology:
        return Topology(
            name="emulated",
            capacity=self._first_capacity,
            queue=Queue(time_limits=self._time_limits),
            teams={"all": Team(shares=dict.fromkeys(self._shares, _NO_SHARE))},
            assumptions=self._assumptions,
        )


def _is_about(event: ControlEvent, job_id: str) -> bool:
    return isinstance(event, UpdatePriority | Terminate) and event.job == job_id
