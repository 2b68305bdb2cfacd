"""What would have prevented something: every change that is told to work works, and what does not is told, too."""

from dataclasses import replace

import numpy as np
import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share

from policy_engine.explanation.life import explain_job
from policy_engine.explanation.prevention import (
    Aim,
    Change,
    Kind,
    Prevention,
    Preventions,
    effect_of,
    find_preventions,
    over_committed_by,
)
from policy_engine.scheduler import replay
from policy_engine.topology import ResourceSharingStrategy
from policy_engine.trace import ON_STOP

G5 = "ml.g5.xlarge"


def found_for(scenario: Scenario, job: str, **options: int) -> Preventions:
    outcome = replay(
        scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False
    )
    life = explain_job(outcome, scenario.trace.job_id.to_list().index(job))
    return find_preventions(life, until=scenario.until, **options)


def about(preventions: Preventions, aim: Aim) -> Prevention:
    (prevention,) = (one for one in preventions.by_aim if one.aim is aim)
    return prevention


def changes(prevention: Prevention) -> list[tuple[object, ...]]:
    return [(trial.change.kind, trial.change.share, trial.change.after) for trial in prevention.found]


def reclaimed(**options: object) -> Scenario:
    """B's job borrows two of A's instances, until A's job claims them; after that it starts anew."""
    return make_scenario(
        {G5: 6},
        {"a": share({G5: 4}, LEND), "b": share({G5: 2}, LEND_AND_BORROW)},
        [Row("b1", "b", 0, {G5: 4}, 1000), Row("a1", "a", 500, {G5: 4}, 5000)],
        **options,
    )


def test_a_higher_limit_prevents_that_what_is_borrowed_is_taken_back():
    prevention = about(found_for(reclaimed(), "b1"), Aim.PREEMPTION)
    assert changes(prevention) == [(Kind.LIMIT, "b", 4)]
    assert prevention.complete


def test_a_limit_above_the_environment_s_capacity_is_told():
    prevention = about(found_for(reclaimed(), "b1"), Aim.PREEMPTION)
    (trial,) = prevention.found
    assert over_committed_by(reclaimed().topology, trial.change) == 2
    assert over_committed_by(reclaimed().topology, replace(trial.change, after=2)) == 0


def test_a_checkpoint_prevents_the_loss_and_the_longest_interval_that_does_is_chosen():
    prevention = about(found_for(reclaimed(), "b1"), Aim.LOSS)
    (trial,) = prevention.found
    assert (trial.change.kind, trial.change.after) == (Kind.CHECKPOINT, 60_000)
    assert trial.effect.lost == 20_000


def test_where_no_interval_is_short_enough_a_checkpoint_when_stopped_is_told():
    scenario = make_scenario(
        {G5: 6},
        {"a": share({G5: 4}, LEND), "b": share({G5: 2}, LEND_AND_BORROW)},
        [Row("b1", "b", 0, {G5: 4}, 1000), Row("a1", "a", 50, {G5: 4}, 5000)],
    )
    assert changes(about(found_for(scenario, "b1"), Aim.LOSS)) == [(Kind.CHECKPOINT, None, ON_STOP)]


def test_the_smallest_priority_that_passes_those_ahead_is_told():
    jobs = [
        Row("runs", "a", 0, {G5: 1}, 1000),
        *(Row(f"p{priority}", "a", 10, {G5: 1}, 1000, priority=priority) for priority in (1, 2, 3)),
        Row("waits", "a", 995, {G5: 1}, 10),
    ]
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, LEND)}, jobs)
    prevention = about(found_for(scenario, "waits"), Aim.WAIT)
    assert changes(prevention) == [(Kind.PRIORITY, None, 4)]


def test_a_priority_is_not_above_what_submitters_may_ask_for():
    jobs = [
        Row("runs", "a", 0, {G5: 1}, 1000),
        Row("ahead", "a", 10, {G5: 1}, 1000, priority=3),
        Row("waits", "a", 995, {G5: 1}, 10),
    ]
    quota_share = share({G5: 1}, LEND).model_copy(update={"max_priority": 3})
    prevention = about(found_for(make_scenario({G5: 1}, {"a": quota_share}, jobs), "waits"), Aim.WAIT)
    assert prevention.found == ()
    assert {trial.change.after for trial in prevention.trials if trial.change.kind is Kind.PRIORITY} <= {1, 2, 3}


def test_a_borrow_limit_prevents_a_wait_for_more():
    shares = {"a": share({G5: 8}, LEND), "b": share({G5: 2}, LEND_AND_BORROW, borrow_limit=50)}
    jobs = [Row("b1", "b", 0, {G5: 2}, 5000), Row("b2", "b", 0, {G5: 3}, 50)]
    prevention = about(found_for(make_scenario({G5: 10}, shares, jobs), "b2"), Aim.WAIT)
    assert (Kind.BORROW_LIMIT, "b", 150) in changes(prevention)


def test_a_share_that_does_not_borrow_might():
    shares = {"a": share({G5: 8}, LEND), "b": share({G5: 2}, LEND)}
    jobs = [Row("b1", "b", 0, {G5: 2}, 5000), Row("b2", "b", 0, {G5: 2}, 50)]
    prevention = about(found_for(make_scenario({G5: 10}, shares, jobs), "b2"), Aim.WAIT)
    assert (Kind.STRATEGY, "b", ResourceSharingStrategy.LEND_AND_BORROW) in changes(prevention)
    assert (Kind.LIMIT, "b", 4) in changes(prevention)


def test_a_share_that_reserves_might_lend():
    shares = {"a": share({G5: 8}, RESERVE), "b": share({G5: 2}, LEND_AND_BORROW), "c": share({G5: 1}, LEND)}
    jobs = [Row("b1", "b", 0, {G5: 2}, 5000), Row("b2", "b", 0, {G5: 3}, 50)]
    prevention = about(found_for(make_scenario({G5: 11}, shares, jobs), "b2"), Aim.WAIT)
    assert (Kind.STRATEGY, "a", ResourceSharingStrategy.LEND) in changes(prevention)


def test_in_share_preemption_might_be_off_or_on():
    jobs = [Row("low", "a", 0, {G5: 1}, 1000), Row("high", "a", 500, {G5: 1}, 10, priority=1)]
    on = make_scenario({G5: 1}, {"a": share({G5: 1}, LEND, in_share_preemption=True)}, jobs)
    assert (Kind.IN_SHARE_PREEMPTION, "a", False) in changes(about(found_for(on, "low"), Aim.PREEMPTION))
    jobs = [Row("low", "a", 0, {G5: 1}, 5000), Row("high", "a", 500, {G5: 1}, 10, priority=1)]
    off = make_scenario({G5: 1}, {"a": share({G5: 1}, LEND)}, jobs, assumptions={"stop_seconds": 10})
    assert (Kind.IN_SHARE_PREEMPTION, "a", True) in changes(about(found_for(off, "high"), Aim.WAIT))


def test_that_nothing_works_is_told_with_what_was_tried():
    scenario = make_scenario(
        {G5: 1}, {"a": share({G5: 1}, LEND)}, [Row("runs", "a", 0, {G5: 1}, 1000), Row("waits", "a", 1, {G5: 1}, 10)]
    )
    prevention = about(found_for(scenario, "waits"), Aim.WAIT)
    assert prevention.found == ()
    assert prevention.complete
    assert prevention.trials
    assert not any(trial.worked for trial in prevention.trials)


def test_a_job_that_never_ran_and_ends_sooner_is_not_helped():
    """A time-limit action ends it 600 s after it reaches the front: sooner, were its priority higher."""
    jobs = [Row("runs", "a", 0, {G5: 2}, 9000), Row("ahead", "a", 0, {G5: 1}, 9), Row("big", "a", 0, {G5: 3}, 60)]
    limits = {"MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED": 600}
    scenario = make_scenario({G5: 4}, {"a": share({G5: 2}, LEND)}, jobs, time_limits=limits)
    prevention = about(found_for(scenario, "big"), Aim.WAIT)
    assert Kind.PRIORITY in {trial.change.kind for trial in prevention.trials}
    assert all(trial.effect.dispatched for trial in prevention.found)


def test_a_job_that_can_never_run_is_helped_by_a_higher_limit_even_if_it_hardly_waited():
    scenario = make_scenario({G5: 4}, {"a": share({G5: 2}, LEND)}, [Row("big", "a", 0, {G5: 3}, 60)])
    assert changes(about(found_for(scenario, "big"), Aim.WAIT)) == [(Kind.LIMIT, "a", 3)]


def test_a_job_that_met_with_nothing_asks_for_nothing():
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, LEND)}, [Row("runs", "a", 0, {G5: 1}, 1000)])
    assert found_for(scenario, "runs").by_aim == ()


@pytest.mark.parametrize("most", [1, 2, 3])
def test_replays_are_bounded_and_that_the_bound_was_met_is_told(most: int):
    told: list[int] = []
    outcome = replay(reclaimed().topology, reclaimed().trace, use_compiled=False)
    preventions = find_preventions(explain_job(outcome, 0), most_replays=most, on_progress=told.append)
    assert preventions.replays == most
    assert told == list(range(1, most + 1))
    assert not all(prevention.complete for prevention in preventions.by_aim)


def test_the_same_change_is_replayed_once_for_all_aims():
    preventions = found_for(reclaimed(), "b1")
    tried = {trial.change for prevention in preventions.by_aim for trial in prevention.trials}
    assert preventions.replays == len(tried)
    assert len(preventions.by_aim) == 3


@pytest.mark.parametrize("seed", range(40))
def test_what_is_told_to_work_works(seed: int):
    """Replayed once more, with the change made by hand."""
    scenario = random_scenario(seed)
    outcome = replay(
        scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False
    )
    job = int(np.argmax(outcome.jobs.preemptions))
    preventions = find_preventions(explain_job(outcome, job), most_replays=12, until=scenario.until)
    assert preventions.base == effect_of(outcome, job)
    for prevention in preventions.by_aim:
        for trial in prevention.found:
            changed = _by_hand(scenario, job, trial.change)
            again = replay(
                changed.topology, changed.trace, events=changed.events, until=changed.until, use_compiled=False
            )
            assert effect_of(again, job) == trial.effect
            if prevention.aim is Aim.PREEMPTION:
                assert again.jobs.preemptions[job] == 0
            elif prevention.aim is Aim.LOSS:
                assert again.jobs.lost[job] * 10 <= outcome.jobs.lost[job]


def _by_hand(scenario: Scenario, job: int, change: Change) -> Scenario:
    trace = scenario.trace
    if change.share is None:
        column = "priority" if change.kind is Kind.PRIORITY else "checkpoint"
        values = getattr(trace, column).copy()
        values[job] = change.after
        return replace(scenario, trace=replace(trace, **{column: values}))
    document = scenario.topology.model_dump(mode="json")
    quota_share = document["teams"]["team"]["shares"][change.share]
    if change.kind is Kind.LIMIT:
        quota_share["capacity"][change.unit] = change.after
    else:
        quota_share[change.kind.value.lower()] = change.after
    return replace(scenario, topology=type(scenario.topology).model_validate(document))
