"""Jobs that are preempted over and over without getting anywhere."""

import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.scheduler import JobStatus, Outcome, replay
from policy_engine.scheduler.livelock import Cause, Livelock, find_livelocks
from policy_engine.trace import UpdateShare

G5 = "ml.g5.xlarge"
HOUR = 3600


def borrowing(job: Row, *, owner_jobs: int = 10, **options: object) -> Outcome:
    """A job of share `batch` (limit 2), and a job of the lending share `prod` (limit 2) every hour."""
    owners = [Row(f"p{number}", "prod", number * HOUR, {G5: 2}, 600) for number in range(1, owner_jobs + 1)]
    scenario = make_scenario(
        {G5: 4}, {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)}, [job, *owners], **options
    )
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def found(outcome: Outcome) -> list[tuple[str, Livelock]]:
    return [(str(outcome.trace.job_id[one.job]), one) for one in find_livelocks(outcome).worst(10)]


def test_a_job_bigger_than_its_share_that_starts_from_zero_each_time_is_a_livelock():
    """style.md, trap 3: with AWS's default of unlimited requeueing this goes on as long as the owner has jobs."""
    outcome = borrowing(Row("big", "batch", 0, {G5: 4}, 2 * HOUR))
    ((job, livelock),) = found(outcome)
    assert job == "big"
    assert livelock.stops == 10
    assert livelock.period == HOUR * 1000
    assert (livelock.first_at, livelock.last_at) == (HOUR * 1000, 10 * HOUR * 1000)
    assert livelock.claimants == (("prod", 10),)
    assert livelock.above_limit == ((G5, 4, 2),)
    assert livelock.causes == (Cause.NEEDS_MORE_THAN_ITS_LIMIT, Cause.NO_CHECKPOINT, Cause.UNLIMITED_RETRIES)
    assert livelock.lost == 4 * int(outcome.jobs.lost[0])
    assert livelock.status is JobStatus.SUCCEEDED


def test_the_replay_of_a_livelock_ends():
    """The owner's jobs end, so the victim gets through: the cycle takes a claimant for each turn."""
    outcome = borrowing(Row("big", "batch", 0, {G5: 4}, 2 * HOUR), owner_jobs=100)
    assert len(outcome.preemptions.at) == 100
    assert outcome.jobs.status.tolist() == [JobStatus.SUCCEEDED] * 101


@pytest.mark.parametrize(
    "job",
    [
        pytest.param(Row("big", "batch", 0, {G5: 4}, 2 * HOUR, checkpoint=600), id="checkpoints that are near enough"),
        pytest.param(Row("big", "batch", 0, {G5: 4}, 2 * HOUR, checkpoint="on_stop"), id="a checkpoint on each stop"),
        pytest.param(Row("big", "batch", 0, {G5: 4}, 2 * HOUR, retries=1), id="few preemption retries"),
        pytest.param(Row("fits", "batch", 0, {G5: 2}, 2 * HOUR), id="a limit that it fits"),
    ],
)
def test_nothing_goes_round_with(job: Row):
    assert found(borrowing(job)) == []


def test_two_stops_in_a_row_are_no_livelock_yet():
    big = Row("big", "batch", 0, {G5: 4}, 2 * HOUR)
    assert found(borrowing(big, owner_jobs=2)) == []
    assert [livelock.stops for _, livelock in found(borrowing(big, owner_jobs=3))] == [3]


def test_checkpoints_that_are_too_far_apart_do_not_help():
    ((_, livelock),) = found(borrowing(Row("big", "batch", 0, {G5: 4}, 2 * HOUR, checkpoint=1.5 * HOUR)))
    assert Cause.CHECKPOINT_TOO_SELDOM in livelock.causes


def test_a_job_that_never_gets_to_work_loses_nothing_and_still_gets_nowhere():
    big = Row("big", "batch", 0, {G5: 4}, 2 * HOUR, checkpoint="on_stop")
    ((_, livelock),) = found(borrowing(big, assumptions={"startup_seconds": HOUR / 2}))
    assert (livelock.lost, livelock.worked) == (0, 0)
    assert Cause.NEVER_GOT_TO_WORK in livelock.causes


def test_progress_in_between_begins_the_count_anew():
    """The third attempt has two hours until its owner's next job: it passes its checkpoint."""
    hours = [1, 2, 4, 5, 6, 7, 8]
    owners = [Row(f"p{hour}", "prod", hour * HOUR, {G5: 2}, 600) for hour in hours]
    big = Row("big", "batch", 0, {G5: 4}, 10 * HOUR, checkpoint=1.5 * HOUR)
    scenario = make_scenario(
        {G5: 4}, {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)}, [big, *owners]
    )
    ((_, livelock),) = found(replay(scenario.topology, scenario.trace, use_compiled=False))
    assert (livelock.stops, livelock.first_at, livelock.last_at) == (4, 5 * HOUR * 1000, 8 * HOUR * 1000)


def test_a_job_that_fits_its_limit_can_be_the_one_that_its_share_borrows_for():
    jobs = [
        Row("own", "batch", 0, {G5: 2}, 100 * HOUR, priority=1),
        Row("more", "batch", 0, {G5: 2}, 2 * HOUR),
        *(Row(f"p{number}", "prod", number * HOUR, {G5: 2}, 600) for number in range(1, 6)),
    ]
    scenario = make_scenario({G5: 4}, {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)}, jobs)
    ((job, livelock),) = found(replay(scenario.topology, scenario.trace, use_compiled=False))
    assert (job, livelock.above_limit) == ("more", ())
    assert livelock.causes[0] is Cause.SHARE_BORROWS


def test_a_job_outranked_in_its_own_share_again_and_again():
    jobs = [
        Row("low", "a", 0, {G5: 1}, 2 * HOUR),
        *(Row(f"h{number}", "a", number * HOUR, {G5: 1}, 600, priority=1) for number in range(1, 6)),
    ]
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE, in_share_preemption=True)}, jobs)
    ((job, livelock),) = found(replay(scenario.topology, scenario.trace, use_compiled=False))
    assert (job, livelock.stops, livelock.claimants) == ("low", 5, (("a", 5),))
    assert livelock.causes == (Cause.OUTRANKED, Cause.NO_CHECKPOINT, Cause.UNLIMITED_RETRIES)


def test_the_limit_that_counts_is_that_of_the_last_stop():
    raised = UpdateShare(at=11 * HOUR * 1000, share="batch", limits={G5: 4})
    ((_, livelock),) = found(borrowing(Row("big", "batch", 0, {G5: 4}, 2 * HOUR), events=[raised]))
    assert livelock.above_limit == ((G5, 4, 2),)


def test_a_livelock_that_the_end_of_the_replay_cuts_is_still_going_on():
    outcome = borrowing(Row("big", "batch", 0, {G5: 4}, 2 * HOUR), until=5 * HOUR * 1000 + 60_000)
    ((_, livelock),) = found(outcome)
    assert (livelock.stops, livelock.status) == (5, JobStatus.RUNNING)


def test_those_that_lost_most_come_first():
    jobs = [
        Row("small", "batch", 0, {G5: 3}, 2 * HOUR),
        *(Row(f"p{number}", "prod", number * HOUR, {G5: 2}, 600) for number in range(1, 5)),
        Row("large", "batch", 20 * HOUR, {G5: 4}, 2 * HOUR),
        *(Row(f"q{number}", "prod", (20 + number) * HOUR, {G5: 2}, 600) for number in range(1, 5)),
    ]
    scenario = make_scenario({G5: 4}, {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)}, jobs)
    livelocks = find_livelocks(replay(scenario.topology, scenario.trace, use_compiled=False))
    assert len(livelocks) == 2
    assert [one.job for one in livelocks.worst(1)] == [5]


@pytest.mark.parametrize("first_seed", seeds(30, among=150, step=30))
def test_no_outcome_is_too_odd_to_be_searched(first_seed: int):
    for seed in range(first_seed, first_seed + 30):
        scenario = random_scenario(seed)
        outcome = replay(
            scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False
        )
        for livelock in find_livelocks(outcome).worst(10):
            assert 3 <= livelock.stops <= outcome.jobs.preemptions[livelock.job]
            assert livelock.lost <= outcome.jobs.lost[livelock.job] * outcome.instances_of_job[livelock.job]
            assert sum(count for _, count in livelock.claimants) == livelock.stops
            assert livelock.causes
