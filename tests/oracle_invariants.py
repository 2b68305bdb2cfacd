"""The invariants of section 9 of the scheduling model, asserted inside the oracle at each decision and each pass."""

from collections import Counter
from dataclasses import replace

from oracle import Job, Phase, Scheduler, Watcher

from policy_engine.assumptions import HeadOfLine
from policy_engine.scheduler.outcome import PreemptionKind
from policy_engine.topology import ResourceSharingStrategy
from policy_engine.trace import UpdateCapacity, UpdateShare


class InvariantWatcher(Watcher):
    """Asserts the invariants, each message naming its number. One for each replay.

    Three of them do not hold as they are worded, because of other paragraphs of the model, and are asserted where
    they do: 9 and 3 not when the last round of a pass gave up an in-share claim, since what that claim held back is
    looked at by the next pass only; 4's "would have gone" not when a victim's share is RESERVE with lowered limits,
    since what the victim frees within them is protected again.
    """

    def __init__(self) -> None:
        self._most_changes = 0
        self._claim_given_up = False

    def before_pass(self, scheduler: Scheduler) -> None:
        present = sum(job.holds_capacity or job.phase is Phase.RUNNABLE for job in scheduler.jobs)
        self._most_changes = 2 * present
        self._claim_given_up = False

    def before_dispatch(self, scheduler: Scheduler, job: Job) -> None:
        self._claim_given_up = False
        for unit, n in job.need.items():
            assert scheduler.room(unit) >= n, f"invariant 1: {job.id} exceeds the capacity of {unit}"
            most = scheduler.borrow_cap(job.share, unit) if job.share.strategy.borrows else 0
            kept = scheduler.kept(job.share, unit) + n
            assert most is None or kept <= job.share.limit(unit) + most, f"invariant 2: {job.id} above its share's cap"
        self._assert_in_share_claims_are_kept(scheduler, job)

    def before_stop(self, scheduler: Scheduler, victims: list[Job], claimant: Job, kind: PreemptionKind) -> None:
        self._claim_given_up = False
        (lane,) = (lane for lane in scheduler.lanes if lane.takes(claimant))
        assert scheduler.head(lane) is claimant, f"invariant 4: the claimant {claimant.id} is no head"
        assert len(set(victims)) == len(victims), "invariant 4: a victim is stopped once"
        assert all(scheduler.is_candidate(victim) for victim in victims), "invariant 4: a victim is dispatched"
        goes = scheduler.is_entitled(claimant) or scheduler.may_borrow(claimant)
        assert not (goes and scheduler.fits_now(claimant)), f"invariant 4: {claimant.id} could go without a preemption"
        rest = scheduler.without(victims)
        if not any(victim.share.strategy is ResourceSharingStrategy.RESERVE for victim in victims):
            assert rest.fits_later(claimant), f"invariant 4: {claimant.id} could not go without the victims"
        match kind:
            case PreemptionKind.CROSS_SHARE:
                assert scheduler.is_entitled(claimant), f"invariant 4: the claimant {claimant.id} is not entitled"
                for victim in victims:
                    assert victim.share is not claimant.share, "invariant 5: a cross-share victim is of another share"
                    borrows = any(scheduler.borrowed(victim.share, unit) > 0 for unit in victim.need)
                    assert borrows, f"invariant 5: the share of {victim.id} was not borrowing"
            case PreemptionKind.IN_SHARE:
                goes = rest.is_entitled(claimant) or rest.may_borrow(claimant)
                assert goes, f"invariant 4: {claimant.id} could not go without the victims"
                for victim in victims:
                    assert victim.share is claimant.share, "invariant 5: an in-share victim is of the same share"
                    assert victim.priority < claimant.priority, f"invariant 5: {victim.id} is not outranked"

    def after_drop(self, scheduler: Scheduler, claimant: Job) -> None:
        self._claim_given_up = True

    def after_pass(self, scheduler: Scheduler, changes: int) -> None:
        assert changes <= self._most_changes, f"invariant 9: {changes} changes in one pass at {scheduler.time}"
        if not self._claim_given_up:
            self._assert_nothing_would_change(scheduler)
            self._assert_reserve_is_never_consumed(scheduler)
        self._assert_capacity(scheduler)
        if scheduler.assumptions.head_of_line is HeadOfLine.STRICT:
            self._assert_work_conservation(scheduler)

    def _assert_nothing_would_change(self, scheduler: Scheduler) -> None:
        again = replace(
            scheduler,
            claims=list(scheduler.claims),
            in_share_claims=dict(scheduler.in_share_claims),
            misconfigured=dict(scheduler.misconfigured),
            watcher=Watcher(),
        )
        changed = again.change()
        assert not changed, f"invariant 9: a second pass at {scheduler.time} changes something"

    def _assert_capacity(self, scheduler: Scheduler) -> None:
        lowered = {event.unit for event in scheduler.applied if isinstance(event, UpdateCapacity)}
        for unit in scheduler.capacity.keys() - lowered:
            assert scheduler.room(unit) >= 0, f"invariant 1: more than the capacity of {unit} is used"

    def _assert_reserve_is_never_consumed(self, scheduler: Scheduler) -> None:
        if any(isinstance(event, UpdateCapacity | UpdateShare) for event in scheduler.applied):
            return
        for unit in {unit for share in scheduler.shares for unit in share.limits}:
            if sum(share.limit(unit) for share in scheduler.shares) > scheduler.environment(unit):
                return
        for lane, head in scheduler.heads().items():
            if scheduler.is_passed_over(head):
                continue
            if lane.share.strategy is ResourceSharingStrategy.RESERVE and scheduler.is_entitled(head):
                waits = any(
                    scheduler.used(lane.share, unit) + n > lane.share.limit(unit) for unit, n in head.need.items()
                )
                assert waits, f"invariant 3: {head.id} waits though its share's reserve is idle at {scheduler.time}"

    def _assert_work_conservation(self, scheduler: Scheduler) -> None:
        for head in scheduler.heads().values():
            goes = scheduler.is_entitled(head) or scheduler.may_borrow(head)
            assert not (goes and scheduler.fits_now(head)), f"invariant 6: {head.id} could go at {scheduler.time}"

    def _assert_in_share_claims_are_kept(self, scheduler: Scheduler, job: Job) -> None:
        """Invariant 4: nobody but an entitled head of another share takes in-share capacity before its claimant.

        A claim whose job is no longer the head, or has lost its capacity to such a head, is not served any more. Claims
        that were opened earlier come first, and a job of the same share that is not outranked may go under `per_unit`
        and `none`.
        """
        if job in scheduler.in_share_claims.values():
            return
        bare = replace(scheduler, hold=Counter())
        for lane, claimant in scheduler.in_share_claims.items():
            may_pass = scheduler.is_entitled(job) if lane.share is not job.share else job.priority >= claimant.priority
            if may_pass or scheduler.head(lane) is not claimant or not bare.fits_later(claimant):
                continue
            for unit, n in claimant.need.items():
                left = bare.later(lane.share, unit) - job.need.get(unit, 0)
                assert left >= n, f"invariant 4: {job.id} takes the in-share capacity of {claimant.id}"
