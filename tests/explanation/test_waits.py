"""Why jobs waited: every stretch's reason is what the replay's own state says at that instant."""

from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, scenarios, share
from seeds import seeds

from policy_engine.explanation.holdings import Holdings
from policy_engine.explanation.waits import Stretch, Wait, WaitEnd, WaitReason, Waits
from policy_engine.scheduler import Outcome, Reason, control, loop, quantities, replay
from policy_engine.scheduler.preparation import prepare
from policy_engine.scheduler.state import BACKFILL, State
from policy_engine.scheduler.storage import make_room, to_lists
from policy_engine.trace import UpdatePriority, UpdateShare

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
SEEDS = seeds(12, among=150)


def outcome_of(scenario: Scenario) -> Outcome:
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def waits_of(scenario: Scenario, job: str) -> list[Wait]:
    outcome = outcome_of(scenario)
    return Waits(outcome, Holdings(outcome)).of(scenario.trace.job_id.to_list().index(job))


def told(waits: Sequence[Wait], scenario: Scenario) -> list[tuple[object, ...]]:
    """Each stretch as (from, to, front, reason, units)."""
    ids = scenario.trace.job_id.to_list()
    return [
        (stretch.start // 1000, stretch.end // 1000, ids[stretch.front], stretch.reason.value, *stretch.units)
        for wait in waits
        for stretch in wait.stretches
    ]


# The replay's own word


class Queue:
    """The replay's state, driven on from instant to instant, without what claims set aside."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.state = to_lists(prepare(outcome.topology, outcome.trace, outcome.events, outcome.assumptions))

    def after(self, at: int) -> State:
        while (result := loop.run(self.state, at, 1_000_000)) != loop.OVER:
            if result == loop.FULL:
                self.state = make_room(self.state)
        for unit in self.state.units:
            unit.hold = unit.hold_now = 0
        return self.state


def lane_of(state: State, job: int) -> int:
    return state.queues[state.jobs[job].queue].lane


def holds(state: State, stretch: Stretch) -> bool:
    """Whether the condition that a stretch names is the first one that fails, by the replay's own quantities."""
    share, need = state.queues[state.jobs[stretch.held].queue].share, state.jobs[stretch.held].need
    blocked = control.judge_need(state, share, state.jobs[stretch.held].need)
    if stretch.reason is WaitReason.MISCONFIGURED:
        return blocked == stretch.misconfiguration != Reason.NONE
    entitled = quantities.entitled(state, share, need)
    borrows = state.shares[share].borrows != 0
    checks: dict[WaitReason, Callable[[], bool]] = {
        WaitReason.LIMIT: lambda: not entitled and not borrows,
        WaitReason.BORROW_LIMIT: lambda: not entitled and borrows and not quantities.may_borrow(state, share, need),
        WaitReason.NOTHING_TO_BORROW: lambda: (
            not entitled and borrows and not quantities.may_borrow(state, share, need)
        ),
    }
    if stretch.reason in checks:
        return blocked == 0 and checks[stretch.reason]()
    if blocked or not (entitled or quantities.may_borrow(state, share, need)):
        return False
    now, later = quantities.fits_now(state, share, need), quantities.fits_later(state, share, need)
    return {
        WaitReason.CAPACITY: not later,
        WaitReason.STOPPING: later and not now,
        WaitReason.SET_ASIDE: now,
        WaitReason.NEXT_PASS: now,
    }[stretch.reason]


def check_against_replay(scenario: Scenario) -> int:
    """Check every stretch of every wait at its start and just before its end. Returns how many there were."""
    outcome = outcome_of(scenario)
    waits = Waits(outcome, Holdings(outcome))
    stretches = [stretch for job in range(len(outcome.trace)) for wait in waits.of(job) for stretch in wait.stretches]
    looks = sorted(
        ((at, stretch) for stretch in stretches for at in {stretch.start, max(stretch.start, stretch.end - 1)}),
        key=lambda look: look[0],
    )
    queue = Queue(outcome)
    for at, stretch in looks:
        state = queue.after(at)
        assert state.lanes[lane_of(state, stretch.front)].head == stretch.front, (at, stretch)
        assert holds(state, stretch), (at, stretch)
    return len(stretches)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_front_and_what_kept_it_back_are_the_replay_s_own(seed: int):
    check_against_replay(random_scenario(seed))


@pytest.mark.slow
def test_those_scenarios_show_every_reason():
    seen = set()
    for seed in range(len(SEEDS)):
        outcome = outcome_of(random_scenario(seed))
        waits = Waits(outcome, Holdings(outcome))
        seen |= {s.reason for job in range(len(outcome.trace)) for wait in waits.of(job) for s in wait.stretches}
    assert seen == set(WaitReason)


@settings(max_examples=60, deadline=None)
@given(scenarios())
def test_it_is_so_for_any_scenario(scenario: Scenario):
    check_against_replay(scenario)


@pytest.mark.parametrize("seed", SEEDS)
def test_waits_and_attempts_take_turns_and_leave_no_time_out(seed: int):
    outcome = outcome_of(random_scenario(seed))
    waits = Waits(outcome, Holdings(outcome))
    for job in range(len(outcome.trace)):
        for wait in waits.of(job):
            assert wait.stretches[0].start == wait.start
            assert wait.stretches[-1].end == wait.end
            ends = [stretch.end for stretch in wait.stretches[:-1]]
            assert ends == [stretch.start for stretch in wait.stretches[1:]]
        rows = outcome.attempts.job == job
        dispatched = set(outcome.attempts.scheduled_at[rows].tolist())
        assert {wait.end for wait in waits.of(job) if wait.ended is WaitEnd.DISPATCHED} <= dispatched


@pytest.mark.parametrize("seed", SEEDS)
def test_an_entitled_front_is_short_of_capacity_only_if_too_little_is_borrowed(seed: int):
    """Else its borrowers would have been stopped. Where nothing is set aside and nobody is passed over."""
    scenario = random_scenario(seed)
    outcome = outcome_of(scenario)
    waits = Waits(outcome, Holdings(outcome))
    for job in range(len(outcome.trace)):
        for stretch in (stretch for wait in waits.of(job) for stretch in wait.stretches):
            if stretch.reason is not WaitReason.CAPACITY or stretch.front != stretch.held:
                continue
            shortages = waits.shortages(stretch)
            share_name = outcome.share_names[outcome.share_of_job[stretch.held]]
            entitled = all(short.kept + short.need <= short.limit for short in shortages)
            anything_stops = any(short.stopping for short in shortages)
            if not entitled or anything_stops or outcome.assumptions.scheduler_interval:
                continue
            borrowed = [sum(s.borrowed for s in short.shares if s.share != share_name) for short in shortages]
            missing = [short.need - short.later for short in shortages]
            ending = _about_to_end(outcome, stretch.start)
            assert ending or any(b < m for b, m in zip(borrowed, missing, strict=True)), stretch


def _about_to_end(outcome: Outcome, at: int) -> bool:
    return bool((outcome.attempts.stopped_at == at).any())


# By hand


def lent_out(**options: object) -> Scenario:
    """B's job borrows what A leaves idle; A's first job takes it back, its second waits for room in its limit."""
    return make_scenario(
        {G5: 4},
        {"a": share({G5: 2}, LEND), "b": share({G5: 2}, LEND_AND_BORROW)},
        [
            Row("b1", "b", 0, {G5: 3}, 1000),
            Row("a1", "a", 100, {G5: 2}, 300),
            Row("a2", "a", 150, {G5: 1}, 10),
        ],
        **options,
    )


def test_a_claimant_waits_for_stopping_jobs_and_those_behind_it_wait_with_it():
    scenario = lent_out()
    assert told(waits_of(scenario, "a1"), scenario) == [(100, 220, "a1", "STOPPING", G5)]
    assert told(waits_of(scenario, "a2"), scenario) == [
        (150, 220, "a1", "STOPPING", G5),
        (220, 520, "a2", "LIMIT", G5),
    ]


def test_a_borrower_waits_until_enough_of_the_lender_s_limit_is_idle():
    scenario = lent_out()
    assert told(waits_of(scenario, "b1"), scenario) == [(220, 520, "b1", "NOTHING_TO_BORROW", G5)]


def test_a_borrow_limit_is_told_apart_from_too_little_to_borrow():
    shares = {"a": share({G5: 8}, LEND), "b": share({G5: 2}, LEND_AND_BORROW, borrow_limit=50)}
    jobs = [Row("b1", "b", 0, {G5: 2}, 50), Row("b2", "b", 0, {G5: 2}, 50)]
    scenario = make_scenario({G5: 10}, shares, jobs)
    assert told(waits_of(scenario, "b2"), scenario) == [(0, 50, "b2", "BORROW_LIMIT", G5)]


def test_what_others_reserve_is_not_there_for_a_borrower():
    shares = {
        "kept": share({G5: 3}, RESERVE),
        "lent": share({G5: 1}, LEND),
        "b": share({G5: 1}, LEND_AND_BORROW),
    }
    scenario = make_scenario({G5: 5}, shares, [Row("b1", "b", 0, {G5: 2}, 50), Row("b2", "b", 0, {G5: 1}, 50)])
    (wait,) = waits_of(scenario, "b2")
    (stretch,) = wait.stretches
    outcome = outcome_of(scenario)
    (short,) = Waits(outcome, Holdings(outcome)).shortages(stretch)
    assert (stretch.reason, short.lendable, short.capacity) == (WaitReason.NOTHING_TO_BORROW, 0, 5)
    assert [(holding.share, holding.idle, holding.borrowed) for holding in short.shares] == [
        ("kept", 3, 0),
        ("lent", 1, 0),
        ("b", 0, 1),
    ]


def test_capacity_that_is_not_there_keeps_an_entitled_job_back():
    shares = {"a": share({G5: 3}, LEND), "b": share({G5: 3}, LEND)}
    jobs = [Row("a1", "a", 0, {G5: 3}, 60), Row("b1", "b", 10, {G5: 3}, 60)]
    scenario = make_scenario({G5: 4}, shares, jobs)
    assert told(waits_of(scenario, "b1"), scenario) == [(10, 60, "b1", "CAPACITY", G5)]


def test_a_job_waits_behind_one_that_can_never_run():
    shares = {"a": share({G5: 2}, LEND), "b": share({G5: 2}, LEND)}
    jobs = [Row("big", "a", 0, {G5: 3}, 60), Row("small", "a", 10, {G5: 1}, 60)]
    limits = {"MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED": 600}
    scenario = make_scenario({G5: 4}, shares, jobs, time_limits=limits)
    (wait,) = waits_of(scenario, "small")
    assert told([wait], scenario) == [(10, 600, "big", "MISCONFIGURED")]
    assert wait.stretches[0].misconfiguration is Reason.LIMIT_EXCEEDED
    (of_big,) = waits_of(scenario, "big")
    assert of_big.ended is WaitEnd.FAILED


def test_what_is_set_aside_for_a_claim_is_told():
    """C's job may borrow what is free, but it waits for B's claim, which needs that and what is stopping."""
    shares = {name: share({G5: 2}, LEND_AND_BORROW) for name in ("a", "b", "c")}
    jobs = [
        Row("a1", "a", 0, {G5: 3}, 1000),
        Row("c1", "c", 0, {G5: 2}, 1000),
        Row("b1", "b", 10, {G5: 2}, 1000),
        Row("c2", "c", 20, {G5: 1}, 100),
    ]
    scenario = make_scenario({G5: 6}, shares, jobs)
    stretches = told(waits_of(scenario, "c2"), scenario)
    assert stretches[0] == (20, 130, "c2", "SET_ASIDE")


def test_the_scheduler_s_interval_is_told():
    scenario = make_scenario(
        {G5: 2}, {"a": share({G5: 2}, LEND)}, [Row("a1", "a", 1, {G5: 1}, 5)], assumptions={"scheduler_interval": 10}
    )
    assert told(waits_of(scenario, "a1"), scenario) == [(1, 10, "a1", "NEXT_PASS")]


def test_who_overtakes_by_a_higher_priority_is_counted():
    shares = {"a": share({G5: 1}, LEND)}
    jobs = [
        Row("first", "a", 0, {G5: 1}, 100),
        Row("ahead", "a", 10, {G5: 1}, 100),
        Row("waits", "a", 20, {G5: 1}, 100),
        Row("overtakes", "a", 30, {G5: 1}, 100, priority=5),
        Row("behind", "a", 40, {G5: 1}, 100),
    ]
    scenario = make_scenario({G5: 1}, shares, jobs)
    (wait,) = waits_of(scenario, "waits")
    assert (wait.ahead, wait.overtaken, wait.duration) == (1, 1, 280_000)
    assert [front for _, _, front, *_ in told([wait], scenario)] == ["ahead", "overtakes", "ahead", "waits"]


def test_a_change_of_priority_changes_who_stands_at_the_front():
    shares = {"a": share({G5: 1}, LEND)}
    jobs = [Row(name, "a", at, {G5: 1}, 100) for name, at in (("runs", 0), ("ahead", 10), ("waits", 20))]
    scenario = make_scenario({G5: 1}, shares, jobs, events=[UpdatePriority(at=50_000, job="waits", priority=9)])
    assert told(waits_of(scenario, "waits"), scenario) == [
        (20, 50, "ahead", "LIMIT", G5),
        (50, 100, "waits", "LIMIT", G5),
    ]


def test_a_change_of_a_limit_changes_the_reason():
    shares = {"a": share({G5: 1}, LEND), "b": share({G5: 2}, LEND)}
    jobs = [Row("runs", "a", 0, {G5: 1}, 100), Row("b1", "b", 0, {G5: 2}, 100), Row("waits", "a", 20, {G5: 1}, 100)]
    scenario = make_scenario({G5: 3}, shares, jobs, events=[UpdateShare(at=50_000, share="a", limits={G5: 2})])
    assert told(waits_of(scenario, "waits"), scenario) == [
        (20, 50, "waits", "LIMIT", G5),
        (50, 100, "waits", "CAPACITY", G5),
    ]


def test_without_head_of_line_blocking_the_reason_is_about_the_job_itself():
    shares = {"a": share({G5: 1, P5: 1}, LEND)}
    jobs = [
        Row("g", "a", 0, {G5: 1}, 100),
        Row("p", "a", 0, {P5: 1}, 50),
        Row("front", "a", 10, {G5: 1}, 100),
        Row("behind", "a", 20, {P5: 1}, 100),
    ]
    strict = make_scenario({G5: 1, P5: 1}, shares, jobs)
    assert told(waits_of(strict, "behind"), strict)[0] == (20, 100, "front", "LIMIT", G5)
    backfill = make_scenario({G5: 1, P5: 1}, shares, jobs, assumptions={"head_of_line": "none"})
    assert told(waits_of(backfill, "behind"), backfill) == [(20, 50, "front", "LIMIT", P5)]
    assert int(
        prepare(backfill.topology, backfill.trace, (), backfill.topology.assumptions).setting[0].head_of_line
    ) == (BACKFILL)


def test_a_job_that_is_dispatched_at_once_never_waited():
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, LEND)}, [Row("a1", "a", 0, {G5: 1}, 100)])
    assert waits_of(scenario, "a1") == []


def test_a_wait_that_the_replay_s_end_cuts_off_says_so():
    scenario = lent_out(until=150_000)
    (wait,) = waits_of(scenario, "a1")
    assert (wait.end, wait.ended) == (150_000, WaitEnd.REPLAY_ENDED)


def test_a_job_that_is_submitted_as_the_replay_ends_is_told_what_keeps_it_back():
    scenario = make_scenario({G5: 4}, {"a": share({G5: 2}, LEND)}, [Row("big", "a", 0, {G5: 3}, 60)])
    (wait,) = waits_of(scenario, "big")
    assert (wait.duration, wait.ended) == (0, WaitEnd.REPLAY_ENDED)
    assert told([wait], scenario) == [(0, 0, "big", "MISCONFIGURED")]
