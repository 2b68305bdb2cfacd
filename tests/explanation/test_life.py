"""A job's life: its waits and attempts in order, as the replay recorded them."""

import numpy as np
import pytest
from scenarios import LEND, LEND_AND_BORROW, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.explanation.life import JobLife, Run, explain_job
from policy_engine.explanation.waits import Wait
from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome, Reason, replay
from policy_engine.scheduler.replay import COMPILE_FROM

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
SEEDS = seeds(6, among=60)


def outcome_of(scenario: Scenario) -> Outcome:
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def life_of(scenario: Scenario, job: str, **options: int) -> JobLife:
    return explain_job(outcome_of(scenario), scenario.trace.job_id.to_list().index(job), **options)


def lives(seed: int) -> list[JobLife]:
    outcome = outcome_of(random_scenario(seed))
    return [explain_job(outcome, job) for job in range(len(outcome.trace))]


@pytest.mark.parametrize("seed", SEEDS)
def test_steps_follow_one_another_without_a_gap(seed: int):
    for life in lives(seed):
        outcome = life.outcome
        at = int(outcome.trace.submitted_at[life.job])
        for step in life.steps:
            start, end = (
                (step.start, step.end)
                if isinstance(step, Wait)
                else (step.scheduled_at, outcome.ended_at if step.stopped_at is None else step.stopped_at)
            )
            assert start == at
            at = end
        finished = int(outcome.jobs.finished_at[life.job])
        if life.status is not JobStatus.SUBMITTED:
            assert at == (outcome.ended_at if finished == NEVER else finished)


@pytest.mark.parametrize("seed", SEEDS)
def test_attempts_are_those_of_the_outcome(seed: int):
    for life in lives(seed):
        outcome = life.outcome
        rows = np.flatnonzero(outcome.attempts.job == life.job).tolist()
        assert [run.attempt for run in life.runs] == rows
        assert sum(run.lost for run in life.runs) == outcome.jobs.lost[life.job]
        stopped = [run for run in life.runs if run.told_to_stop_at is not None]
        assert len(stopped) == outcome.jobs.preemptions[life.job]
        for run in stopped:
            assert run.preemption is not None
            assert (run.preemption.victim, run.preemption.at) == (life.job, run.told_to_stop_at)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_attempt_borrows_only_where_its_share_may(seed: int):
    for life in lives(seed):
        need = dict(
            zip(life.outcome.trace.units, life.outcome.trace.needs[life.outcome.trace.need[life.job]], strict=True)
        )
        for run in life.runs:
            assert run.held is not None
            assert {held.unit: held.count for held in run.held} == {unit: n for unit, n in need.items() if n}
            assert all(0 <= held.borrowed <= held.count for held in run.held)
            assert all(bool(held.lendable) <= bool(held.borrowed) for held in run.held)


def test_compiled_and_interpreted_replays_are_explained_alike():
    """Decisions are read from the compiled kernel where the trace is large enough for it."""
    jobs = [
        Row("b1", "b", 0, {G5: 3}, 1000),
        Row("a1", "a", 100, {G5: 2}, 300),
        Row("a2", "a", 150, {G5: 1}, 10),
    ]
    shares = {"a": share({G5: 2}, LEND), "b": share({G5: 2}, LEND_AND_BORROW)}
    later = [Row(f"n{number}", "a", 10_000 + number, {G5: 1}, 0) for number in range(COMPILE_FROM)]
    small = life_of(make_scenario({G5: 4}, shares, jobs), "b1")
    large = life_of(make_scenario({G5: 4}, shares, [*jobs, *later]), "b1")
    assert small.steps == large.steps
    assert len(small.steps) == 3


def test_what_is_borrowed_and_whose_idle_there_was_is_told():
    shares = {"a": share({G5: 3}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)}
    life = life_of(make_scenario({G5: 4}, shares, [Row("b1", "b", 0, {G5: 3}, 10)]), "b1")
    (run,) = life.runs
    assert run.held is not None
    (held,) = run.held
    assert (held.count, held.borrowed, held.lendable) == (3, 2, (("a", 3),))
    assert run.borrowed


def test_attempts_beyond_the_bound_are_told_without_their_decisions():
    shares = {"a": share({G5: 2}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)}
    jobs = [Row("b1", "b", 0, {G5: 3}, 500), *(Row(f"a{n}", "a", 100 * n, {G5: 1}, 10) for n in range(1, 5))]
    scenario = make_scenario({G5: 3}, shares, jobs, assumptions={"stop_seconds": 0})
    full, bounded = life_of(scenario, "b1"), life_of(scenario, "b1", most_attempts=1)
    assert len(full.runs) == len(bounded.runs) == 5
    assert [run.preemption is not None for run in full.runs] == [True] * 4 + [False]
    assert [run.held is not None for run in bounded.runs] == [True] + [False] * 4
    assert [run.told_to_stop_at for run in full.runs] == [run.told_to_stop_at for run in bounded.runs]


def test_the_longest_wait_is_found():
    shares = {"a": share({G5: 1}, LEND)}
    jobs = [Row("first", "a", 0, {G5: 1}, 100), Row("second", "a", 10, {G5: 1}, 100)]
    scenario = make_scenario({G5: 1}, shares, jobs)
    assert life_of(scenario, "first").longest_wait is None
    wait = life_of(scenario, "second").longest_wait
    assert wait is not None
    assert wait.duration == 90_000


def test_a_job_that_ends_badly_says_so():
    shares = {"a": share({G5: 2}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)}
    jobs = [Row("b1", "b", 0, {G5: 3}, 500, retries=0), Row("a1", "a", 100, {G5: 1}, 10)]
    life = life_of(make_scenario({G5: 3}, shares, jobs), "b1")
    assert (life.name, life.share, life.status, life.reason) == (
        "b1",
        "b",
        JobStatus.FAILED,
        Reason.PREEMPTION_RETRIES_EXHAUSTED,
    )
    (run,) = life.steps
    assert isinstance(run, Run)
    assert run.ended is AttemptOutcome.PREEMPTED


def test_a_job_that_was_not_submitted_yet_has_no_life():
    shares = {"a": share({G5: 1}, LEND)}
    scenario = make_scenario({G5: 1}, shares, [Row("late", "a", 100, {G5: 1}, 10)], until=50_000)
    assert life_of(scenario, "late").steps == ()


def test_jobs_of_several_instance_types_hold_all_of_them():
    shares = {"a": share({G5: 2, P5: 1}, LEND), "b": share({G5: 1, P5: 1}, LEND_AND_BORROW)}
    scenario = make_scenario({G5: 3, P5: 2}, shares, [Row("b1", "b", 0, {G5: 2, P5: 1}, 10)])
    (run,) = life_of(scenario, "b1").runs
    assert run.held is not None
    assert {held.unit: held.borrowed for held in run.held} == {G5: 1, P5: 0}
