"""What each attempt held, did and lost."""

import numpy as np
import pytest
from scenarios import RESERVE, Row, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome, replay
from policy_engine.trace import Terminate

G5 = "ml.g5.xlarge"


def in_share(*jobs: Row, **options: object) -> Outcome:
    """One share of one instance, in which a job of higher priority displaces another."""
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE, in_share_preemption=True)}, jobs, **options)
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def work_of(outcome: Outcome, job: str) -> list[tuple[int, int, int]]:
    """Seconds held, worked and lost of each attempt of a job."""
    work, row = outcome.work, outcome.trace.job_id.to_list().index(job)
    held = work.held_until - outcome.attempts.scheduled_at
    rows = np.flatnonzero(outcome.attempts.job == row)
    return [(int(held[i]) // 1000, int(work.worked[i]) // 1000, int(work.lost[i]) // 1000) for i in rows]


LOW = Row("low", "a", 0, {G5: 1}, 100)
HIGH = Row("high", "a", 30, {G5: 1}, 10, priority=1)


def test_a_stopping_job_holds_its_instances_and_works_no_more():
    assert work_of(in_share(LOW, HIGH), "low") == [(150, 30, 30), (100, 100, 0)]


def test_what_a_checkpoint_saves_is_not_lost():
    saved = Row("low", "a", 0, {G5: 1}, 100, checkpoint=20)
    assert work_of(in_share(saved, HIGH), "low") == [(150, 30, 10), (80, 80, 0)]


def test_starting_and_resuming_are_no_work():
    outcome = in_share(LOW, HIGH, assumptions={"startup_seconds": 5, "resume_seconds": 7})
    assert work_of(outcome, "low") == [(150, 25, 25), (112, 100, 0)]


def test_a_job_stopped_before_it_runs_does_nothing_and_holds_nothing_longer():
    outcome = in_share(LOW, HIGH, assumptions={"startup_seconds": 60})
    assert work_of(outcome, "low") == [(30, 0, 0), (160, 100, 0)]


def test_a_job_terminated_while_it_stops_was_preempted():
    outcome = in_share(LOW, HIGH, events=[Terminate(at=40_000, job="low")])
    assert work_of(outcome, "low") == [(40, 30, 30)]
    assert outcome.work.preempted.tolist() == [True, False]


def test_the_end_of_the_replay_ends_what_is_held_and_done():
    assert work_of(in_share(LOW, HIGH, until=20_000), "low") == [(20, 20, 0)]
    assert work_of(in_share(LOW, HIGH, until=50_000), "low") == [(50, 30, 30)]


@pytest.mark.parametrize("first_seed", seeds(30, among=150, step=30))
def test_work_that_was_not_lost_is_the_runtime_of_a_job_that_succeeded(first_seed: int):
    for seed in range(first_seed, first_seed + 30):
        scenario = random_scenario(seed)
        outcome = replay(
            scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False
        )
        kept = np.zeros(len(outcome.trace), dtype=np.int64)
        np.add.at(kept, outcome.attempts.job, outcome.work.worked - outcome.work.lost)
        succeeded = outcome.jobs.status == JobStatus.SUCCEEDED
        assert (kept[succeeded] == outcome.trace.runtime[succeeded]).all()
        assert (kept[~succeeded] >= 0).all()


@pytest.mark.parametrize("first_seed", seeds(30, among=150, step=30))
def test_every_preemption_stops_one_attempt_of_its_victim_in_its_time(first_seed: int):
    for seed in range(first_seed, first_seed + 30):
        scenario = random_scenario(seed)
        outcome = replay(
            scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False
        )
        work, attempts, made = outcome.work, outcome.attempts, outcome.preemptions
        stopped = np.flatnonzero(work.preempted)
        by = work.preemption[stopped]
        assert sorted(by.tolist()) == list(range(len(made.at)))
        assert (attempts.job[stopped] == made.victim[by]).all()
        assert (attempts.scheduled_at[stopped] <= made.at[by]).all()
        assert (made.at[by] <= work.held_until[stopped]).all()
        could_be_stopped = (AttemptOutcome.PREEMPTED, AttemptOutcome.TERMINATED, AttemptOutcome.RUNNING)
        assert np.isin(attempts.outcome[stopped], could_be_stopped).all()
        assert (work.lost[stopped] <= work.worked[stopped]).all()
        assert (outcome.jobs.first_scheduled_at != NEVER).sum() == len(np.unique(attempts.job))
