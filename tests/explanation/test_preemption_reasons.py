"""Why jobs were preempted: claimant, what it was owed, candidates, and what chose the victim."""

from dataclasses import replace

import oracle
import pytest
from hypothesis import given, settings
from scenarios import LEND, LEND_AND_BORROW, Row, Scenario, make_scenario, random_scenario, scenarios, share
from seeds import seeds

from policy_engine.assumptions import VictimOrder
from policy_engine.explanation.moments import decisions
from policy_engine.explanation.preemptions import Fate, PreemptionReason, preemption_reasons
from policy_engine.scheduler import Outcome, PreemptionKind, quantities, replay

G5 = "ml.g5.xlarge"
SEEDS = seeds(12, among=150)


def outcome_of(scenario: Scenario) -> Outcome:
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def all_reasons(outcome: Outcome) -> dict[int, PreemptionReason]:
    return preemption_reasons(outcome, range(len(outcome.preemptions.at)))


def check(scenario: Scenario) -> None:
    """What is told of each preemption is what the replay did."""
    outcome = outcome_of(scenario)
    made = outcome.preemptions
    reasons = all_reasons(outcome)
    assert list(reasons) == list(range(len(made.at)))
    for row, reason in reasons.items():
        assert (reason.at, reason.victim, reason.claimant) == (made.at[row], made.victim[row], made.claimant[row])
        assert reason.victim in reason.stopped_together
        together = [one.victim for one in reasons.values() if one.stopped_together == reason.stopped_together]
        assert set(reason.stopped_together) <= set(together)
        stopped = tuple(one.job for one in reason.candidates if one.fate is Fate.STOPPED)
        assert stopped == reason.stopped_together
        assert reason.candidates[reason.place - 1].job == reason.victim
        if reason.kind is PreemptionKind.CROSS_SHARE:
            assert all(owed.kept + owed.need <= owed.limit for owed in reason.owed)
            assert any(owed.short for owed in reason.owed)
        else:
            priorities = {one.job: one.priority for one in reason.candidates}
            assert outcome.share_of_job[reason.victim] == outcome.share_of_job[reason.claimant]
            assert priorities[reason.victim] <= max(priorities.values())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_victims_that_are_told_are_those_of_the_replay(seed: int):
    check(random_scenario(seed))


@settings(max_examples=60, deadline=None)
@given(scenarios())
def test_it_is_so_for_any_scenario(scenario: Scenario):
    check(scenario)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_decision_s_shortage_and_state_are_the_replay_s_own(seed: int):
    outcome = outcome_of(random_scenario(seed))
    reasons = all_reasons(outcome)
    for decision in decisions(outcome, preemptions=reasons):
        reason = reasons[decision.preemptions[0]]
        share, need = int(outcome.share_of_job[reason.claimant]), int(outcome.trace.need[reason.claimant])
        state = decision.state
        if reason.kind is PreemptionKind.CROSS_SHARE:
            assert quantities.entitled(state, share, need)
            wanted = sorted(unit.covered for unit in state.units if unit.covered > 0)
            assert wanted == sorted(owed.short for owed in reason.owed if owed.short)
        else:
            assert not quantities.could_go(state, share, need)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_dispatch_is_within_the_limits_or_may_borrow(seed: int):
    outcome = outcome_of(random_scenario(seed))
    seen = 0
    for decision in decisions(outcome, dispatches=range(len(outcome.attempts.job))):
        (row,) = decision.dispatches
        seen += 1
        job = int(outcome.attempts.job[row])
        share, need = int(outcome.share_of_job[job]), int(outcome.trace.need[job])
        assert quantities.fits_now(decision.state, share, need)
        assert quantities.entitled(decision.state, share, need) or quantities.may_borrow(decision.state, share, need)
    assert seen == len(outcome.attempts.job)


class Candidates(oracle.Watcher):
    """Notes whom the oracle could have stopped at each decision, in its victim order. `short` is told to it."""

    def __init__(self, short: list[dict[str, int]]) -> None:
        self._short = short
        self.seen: list[list[str]] = []

    def before_stop(
        self, scheduler: oracle.Scheduler, victims: list[oracle.Job], claimant: oracle.Job, kind: PreemptionKind
    ) -> None:
        across = kind is PreemptionKind.CROSS_SHARE
        wanted = self._short[len(self.seen)] if across else claimant.need

        def could_be_stopped(job: oracle.Job) -> bool:
            if not scheduler.is_candidate(job) or (job.share is claimant.share) is across:
                return False
            units = job.need.keys() & wanted.keys()
            if across:
                return any(scheduler.borrowed(job.share, unit) > 0 for unit in units)
            return bool(units) and job.priority < claimant.priority

        order = scheduler.in_victim_order(filter(could_be_stopped, scheduler.jobs), wanted)
        self.seen.append([job.id for job in order])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("order", VictimOrder)
def test_the_candidates_are_those_of_the_oracle_in_its_order(seed: int, order: VictimOrder):
    scenario = random_scenario(seed)
    assumptions = scenario.topology.assumptions.model_copy(update={"victim_order": order})
    topology = scenario.topology.model_copy(update={"assumptions": assumptions})
    outcome = outcome_of(replace(scenario, topology=topology))
    told: dict[int, PreemptionReason] = {}
    for reason in all_reasons(outcome).values():
        told.setdefault(id(reason.candidates), reason)
    short = [{owed.unit: owed.short for owed in reason.owed if owed.short} for reason in told.values()]
    watcher = Candidates(short)
    oracle.replay(topology, scenario.trace, scenario.events, until=scenario.until, watcher=watcher)
    ids = scenario.trace.job_id.to_list()
    assert [[ids[one.job] for one in reason.candidates] for reason in told.values()] == watcher.seen


@pytest.mark.slow
@pytest.mark.parametrize("order", VictimOrder)
def test_what_another_victim_order_would_have_done_is_what_it_does(order: VictimOrder):
    """Up to the first preemption the replays under all victim orders are one and the same."""
    compared = 0
    for seed in range(200):
        scenario = random_scenario(seed)
        topology = scenario.topology
        base = outcome_of(scenario)
        if not len(base.preemptions.at) or order is base.assumptions.victim_order:
            continue
        changed = topology.model_copy(
            update={"assumptions": topology.assumptions.model_copy(update={"victim_order": order})}
        )
        other = outcome_of(Scenario(changed, scenario.trace, scenario.events, scenario.until))
        (reason,) = preemption_reasons(base, [0]).values()
        if reason.otherwise.get(order) == ():
            continue
        (of_other,) = preemption_reasons(other, [0]).values()
        assert (of_other.at, of_other.claimant) == (reason.at, reason.claimant)
        if order in reason.otherwise:
            compared += 1
            assert of_other.stopped_together == reason.otherwise[order]
        else:
            assert reason.victim in of_other.stopped_together
    assert compared


# By hand


def reclaimed(**assumptions: object) -> Scenario:
    """B's three jobs borrow what A leaves idle, until A's job claims two of its four."""
    return make_scenario(
        {G5: 5},
        {"a": share({G5: 4}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)},
        [
            Row("old", "b", 0, {G5: 1}, 1000, priority=1),
            Row("low", "b", 10, {G5: 2}, 1000),
            Row("young", "b", 20, {G5: 1}, 1000, priority=1),
            Row("claims", "a", 60, {G5: 2}, 100),
        ],
        assumptions=assumptions,
    )


def test_the_claimant_its_shortage_and_the_candidates_are_told():
    scenario = reclaimed()
    outcome = outcome_of(scenario)
    (reason,) = all_reasons(outcome).values()
    ids = scenario.trace.job_id.to_list()
    (owed,) = reason.owed
    assert (owed.unit, owed.need, owed.limit, owed.kept, owed.available, owed.short) == (G5, 2, 4, 0, 1, 1)
    assert [(ids[one.job], one.priority, one.dispatched_at, one.fate) for one in reason.candidates] == [
        ("low", 0, 10_000, Fate.STOPPED),
        ("young", 1, 20_000, Fate.NOT_NEEDED),
        ("old", 1, 0, Fate.NOT_NEEDED),
    ]
    assert (ids[reason.victim], ids[reason.claimant], reason.lost, reason.place) == ("low", "claims", 50_000, 1)
    assert {order.value: [ids[job] for job in jobs] for order, jobs in reason.otherwise.items()} == {
        "youngest": ["young"],
        "oldest": ["old"],
    }


def test_a_job_whose_share_is_not_above_its_limit_any_more_is_passed_over():
    shares = {"a": share({G5: 4}, LEND), "b": share({G5: 1}, LEND_AND_BORROW), "c": share({G5: 1}, LEND_AND_BORROW)}
    jobs = [
        Row("b1", "b", 0, {G5: 2}, 1000),
        Row("b2", "b", 0, {G5: 1}, 1000, priority=1),
        Row("c1", "c", 0, {G5: 2}, 1000, priority=2),
        Row("claims", "a", 60, {G5: 4}, 100),
    ]
    scenario = make_scenario({G5: 6}, shares, jobs)
    (first, *_) = all_reasons(outcome_of(scenario)).values()
    ids = scenario.trace.job_id.to_list()
    assert [(ids[one.job], one.fate.value) for one in first.candidates] == [
        ("b1", "STOPPED"),
        ("b2", "SHARE_NOT_ABOVE_LIMIT"),
        ("c1", "STOPPED"),
    ]


def test_within_a_share_those_of_lower_priority_are_the_candidates():
    shares = {"a": share({G5: 3}, LEND, in_share_preemption=True)}
    jobs = [
        Row("low", "a", 0, {G5: 1}, 1000, priority=1),
        Row("lower", "a", 0, {G5: 1}, 1000),
        Row("high", "a", 0, {G5: 1}, 1000, priority=9),
        Row("claims", "a", 60, {G5: 1}, 100, priority=5),
    ]
    scenario = make_scenario({G5: 3}, shares, jobs)
    (reason,) = all_reasons(outcome_of(scenario)).values()
    ids = scenario.trace.job_id.to_list()
    assert reason.kind is PreemptionKind.IN_SHARE
    assert [(ids[one.job], one.fate.value) for one in reason.candidates] == [
        ("lower", "STOPPED"),
        ("low", "NOT_NEEDED"),
    ]
    assert reason.otherwise == {}
