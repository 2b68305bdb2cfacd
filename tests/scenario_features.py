"""What happens in a scenario: names of the situations that the differential tests must meet often enough."""

from oracle import Job, OracleOutcome, Phase, Scheduler, Watcher, replay
from scenarios import Scenario

from policy_engine.assumptions import HeadOfLine
from policy_engine.scheduler.outcome import AttemptOutcome, JobStatus, PreemptionKind, Reason
from policy_engine.topology import ResourceSharingStrategy


class FeatureWatcher(Watcher):
    """Collects the situations of one replay."""

    def __init__(self) -> None:
        super().__init__()
        self.features: set[str] = set()
        self._pass_at = -1

    def before_pass(self, scheduler: Scheduler) -> None:
        super().before_pass(scheduler)
        if scheduler.time == self._pass_at:
            self.features.add("several rounds in one instant")
        self._pass_at = scheduler.time

    def before_dispatch(self, scheduler: Scheduler, job: Job) -> None:
        super().before_dispatch(scheduler, job)
        (lane,) = (lane for lane in scheduler.lanes if lane.takes(job))
        entitled = scheduler.is_entitled(job)
        self.features.add("dispatch within the limit" if entitled else "dispatch by borrowing")
        if scheduler.head(lane) is not job:
            self.features.add("backfill")
        if lane in scheduler.claims:
            self.features.add("a claim is met")
        if scheduler.in_share_claims.get(lane) is job:
            self.features.add("an in-share claim is met" + ("" if entitled else " by borrowing"))
        if scheduler.hold.total() > 0:
            self.features.add("dispatch past capacity that is set aside")
        if len(job.need) > 1:
            self.features.add("dispatch of several units")
        if any(attempt.outcome is AttemptOutcome.PREEMPTED for attempt in job.attempts):
            self.features.add("a victim goes again")

    def before_stop(self, scheduler: Scheduler, victims: list[Job], claimant: Job, kind: PreemptionKind) -> None:
        super().before_stop(scheduler, victims, claimant, kind)
        self.features.add(kind.name)
        if len(victims) > 1:
            self.features.add(f"{kind.name} of several")
        phases = {victim.phase for victim in victims}
        self.features |= {f"{kind.name} of a {phase.name} job" for phase in phases}
        if len(claimant.need) > 1:
            self.features.add(f"{kind.name} for several units")
        if any(victim.survived for victim in victims):
            self.features.add("a victim had progress from an earlier attempt")
        if any(victim.attempt.scheduled_at == scheduler.time for victim in victims):
            self.features.add("a victim was dispatched in the same instant")
        if len(victims) > 1 and Phase.RUNNING in phases and Phase.SCHEDULED in phases:
            self.features.add("victims of which only some are RUNNING")

    def after_drop(self, scheduler: Scheduler, claimant: Job) -> None:
        super().after_drop(scheduler, claimant)
        (lane,) = (lane for lane in scheduler.lanes if lane.takes(claimant))
        superseded = scheduler.head(lane) is not claimant
        self.features.add("an in-share claim is " + ("superseded" if superseded else "given up"))

    def after_pass(self, scheduler: Scheduler, changes: int) -> None:
        super().after_pass(scheduler, changes)
        if changes > 4:
            self.features.add("five changes in one pass")
        if scheduler.claims:
            self.features.add("a claim waits")
        if len(scheduler.claims) > 1:
            self.features.add("several claims wait")
        if any(lane.share.strategy is ResourceSharingStrategy.RESERVE for lane in scheduler.claims):
            self.features.add("a RESERVE claim waits")
        if scheduler.in_share_claims:
            self.features.add("an in-share claim waits")
        if len(scheduler.in_share_claims) > 1:
            self.features.add("several in-share claims wait")
        if any(scheduler.room(unit) < 0 for unit in scheduler.capacity):
            self.features.add("capacity is exceeded")
        if any(scheduler.is_held_back(job) for job in scheduler.jobs if job.phase is Phase.RUNNABLE):
            self.features.add(f"a job is held back, {scheduler.assumptions.head_of_line.value}")
        if len({lane.share for lane in scheduler.lanes}) < len(scheduler.lanes):
            self.features.add("several lanes in a share")
        for seen in scheduler.misconfigured.values():
            self.features.add(f"misconfigured: {seen.reason.name}")
        if any(job.runtime == job.survived for job in scheduler.jobs if job.phase is Phase.RUNNABLE and job.attempts):
            self.features.add("a victim has nothing left to do")
        borrowed = any(scheduler.borrowed(share, unit) for share in scheduler.shares for unit in scheduler.capacity)
        if borrowed and scheduler.assumptions.head_of_line is HeadOfLine.STRICT:
            self.features.add("strict borrowing")


def features(scenario: Scenario, watcher: FeatureWatcher | None = None) -> tuple[set[str], OracleOutcome]:
    """The situations that occur in a scenario, and its outcome. The watcher may do more than collect them."""
    watcher = FeatureWatcher() if watcher is None else watcher
    outcome = replay(scenario.topology, scenario.trace, scenario.events, None, scenario.until, watcher=watcher)
    found = watcher.features
    for job in outcome.jobs:
        found.add(f"status {job.status.name}")
        if job.status is JobStatus.FAILED:
            found.add(f"failed: {job.reason.name}")
        elif job.reason is not Reason.NONE:
            found.add("misconfigured to the end")
        found |= {f"attempt {attempt.outcome.name}" for attempt in job.attempts}
        if job.lost:
            found.add("work is lost")
        if job.preemptions > 2:
            found.add("preempted three times")
    for name, value in scenario.topology.assumptions.model_dump(mode="json").items():
        if isinstance(value, str) or name in {"scheduler_interval", "stop_seconds"}:
            found.add(f"{name} = {value}")
    found |= {f"event {event.event}" for event in scenario.events}
    return found, outcome
