"""The oracle against schedules worked out by hand from the scheduling model, and against AWS's published examples."""

import pytest
from oracle import OracleOutcome, replay
from scenarios import ENVIRONMENT_EXCEEDED, LIMIT_EXCEEDED, Row, Scenario, make_scenario, share

from policy_engine.scheduler.outcome import JobStatus, Reason
from policy_engine.topology import QuotaShare, ResourceSharingStrategy, ShareState
from policy_engine.trace import SetShareState, Terminate, Unavailable, UpdateCapacity, UpdatePriority, UpdateShare

UNIT = "ml.g5.xlarge"
OTHER_UNIT = "ml.p4d.24xlarge"
Attempt = tuple[float, float | None, str]


def need(n: int = 1) -> dict[str, int]:
    return {UNIT: n}


def replayed(scenario: Scenario) -> OracleOutcome:
    return replay(scenario.topology, scenario.trace, scenario.events, until=scenario.until)


def attempts(outcome: OracleOutcome) -> dict[str, list[Attempt]]:
    """Each job's attempts: dispatched, released (seconds), outcome."""
    return {
        job.id: [
            (one.scheduled_at / 1000, None if one.stopped_at is None else one.stopped_at / 1000, one.outcome.name)
            for one in job.attempts
        ]
        for job in outcome.jobs
    }


def starts(outcome: OracleOutcome) -> dict[str, list[float]]:
    return {name: [start for start, _, _ in made] for name, made in attempts(outcome).items()}


def preemptions(outcome: OracleOutcome) -> list[tuple[float, str, str, str]]:
    """Time, victim, claimant, kind."""
    return [(one.at / 1000, one.victim, one.claimant, one.kind.name) for one in outcome.preemptions]


def victims(outcome: OracleOutcome) -> list[str]:
    return [one.victim for one in outcome.preemptions]


def borrower_and_lender(
    *jobs: Row, limits: tuple[int, int] = (1, 1), capacity: int | None = None, **rest: object
) -> Scenario:
    """Share `a` borrows from share `b`."""
    shares = {"a": share(need(limits[0])), "b": share(need(limits[1]), "LEND")}
    return make_scenario(need(sum(limits) if capacity is None else capacity), shares, jobs, **rest)  # type: ignore[arg-type]


def test_aws_notebook_reclaims_the_borrowed_instance_then_follows_the_raised_priority():
    scenario = make_scenario(
        need(3),
        {
            "QS1": share(need(), borrow_limit=200, in_share_preemption=True),
            "QS2": share(need(), "LEND"),
            "QS3": share(need(), "RESERVE"),
        },
        [
            Row("qs1_job_high", "QS1", 0, need(), 3000, priority=3),
            Row("qs1_job_med", "QS1", 0, need(), 3000, priority=2),
            Row("qs1_job_low", "QS1", 0, need(), 3000, priority=1),
            Row("qs2_job_1", "QS2", 60, need(), 3000, priority=1),
        ],
        events=[UpdatePriority(at=400_000, job="qs1_job_low", priority=4)],
        until=1_000_000,
    )

    outcome = replayed(scenario)

    assert preemptions(outcome) == [
        (60, "qs1_job_med", "qs2_job_1", "CROSS_SHARE"),
        (400, "qs1_job_high", "qs1_job_low", "IN_SHARE"),
    ]
    assert attempts(outcome) == {
        "qs1_job_high": [(0, 520, "PREEMPTED")],
        "qs1_job_med": [(0, 180, "PREEMPTED")],
        "qs1_job_low": [(520, None, "RUNNING")],
        "qs2_job_1": [(180, None, "RUNNING")],
    }
    status = {job.id: job.status for job in outcome.jobs}
    assert status["qs1_job_high"] is status["qs1_job_med"] is JobStatus.RUNNABLE


def test_amazon_search_example_takes_back_what_an_experiment_borrowed():
    shares = {"ProdExp1": share({OTHER_UNIT: 60}), "ProdExp2": share({OTHER_UNIT: 40})}
    jobs = [Row("second-25", "ProdExp2", 0, {OTHER_UNIT: 25}, 10_000)]
    jobs += [Row(f"first-{number}", "ProdExp1", 0, {OTHER_UNIT: 15}, 10_000) for number in range(1, 7)]
    jobs += [Row("second-15", "ProdExp2", 600, {OTHER_UNIT: 15}, 10_000)]

    outcome = replayed(make_scenario({OTHER_UNIT: 100}, shares, jobs, until=5_000_000))

    assert [name for name, made in starts(outcome).items() if made == [0]] == ["second-25", *jobs_named("first", 5)]
    assert preemptions(outcome) == [(600, "first-5", "second-15", "CROSS_SHARE")]
    assert starts(outcome)["second-15"] == [720]


def jobs_named(prefix: str, count: int) -> list[str]:
    return [f"{prefix}-{number}" for number in range(1, count + 1)]


def test_amazon_search_example_stops_the_lowest_priority_for_a_higher_one():
    jobs = [
        Row(name, "s", 0, {OTHER_UNIT: 15}, 10_000, priority=p)
        for name, p in zip("ABCD", (80, 50, 30, 10), strict=True)
    ]
    jobs += [Row("E", "s", 600, {OTHER_UNIT: 15}, 10_000, priority=90)]
    shares = {"s": share({OTHER_UNIT: 60}, in_share_preemption=True)}

    outcome = replayed(make_scenario({OTHER_UNIT: 60}, shares, jobs, until=5_000_000))

    assert preemptions(outcome) == [(600, "D", "E", "IN_SHARE")]
    assert starts(outcome)["E"] == [720]


@pytest.mark.parametrize(
    ("capacity", "shares", "n", "reason"),
    [
        (10, {"a": share(need(10), "RESERVE")}, 12, Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE),
        (10, {"a": share(need(4), "RESERVE")}, 5, Reason.LIMIT_EXCEEDED),
        (10, {"a": share(need(4), "LEND")}, 5, Reason.LIMIT_EXCEEDED),
        (10, {"a": share(need(2), borrow_limit=100), "b": share(need(8), "LEND")}, 5, Reason.BORROW_LIMIT_EXCEEDED),
        (12, {"a": share(need(4), borrow_limit=200), "b": share(need(4))}, 10, Reason.BORROWABLE_EXCEEDED),
        (12, {"a": share({OTHER_UNIT: 4}), "b": share(need(4))}, 1, Reason.BORROW_LIMIT_EXCEEDED),
    ],
)
def test_a_misconfigured_head_blocks_its_share_until_the_time_limit(
    capacity: int, shares: dict[str, QuotaShare], n: int, reason: Reason
):
    jobs = [Row("big", "a", 0, need(n), 10), Row("behind", "a", 1, {next(iter(shares["a"].capacity)): 1}, 10)]
    environment = {UNIT: capacity, OTHER_UNIT: 4}

    stuck = replayed(make_scenario(environment, shares, jobs))
    ended = replayed(
        make_scenario(environment, shares, jobs, time_limits={ENVIRONMENT_EXCEEDED: 600, LIMIT_EXCEEDED: 600})
    )

    assert [(job.status, job.reason) for job in stuck.jobs] == [
        (JobStatus.RUNNABLE, reason),
        (JobStatus.RUNNABLE, Reason.NONE),
    ]
    big, behind = ended.jobs
    environment_exceeded = reason is Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE
    expected = Reason.TIME_LIMIT_SERVICE_ENVIRONMENT if environment_exceeded else Reason.TIME_LIMIT_QUOTA_MANAGEMENT
    assert (big.status, big.reason, big.finished_at) == (JobStatus.FAILED, expected, 600_000)
    assert (behind.status, behind.first_scheduled_at) == (JobStatus.SUCCEEDED, 600_000)


def test_the_misconfiguration_clock_starts_anew_after_a_break():
    scenario = make_scenario(
        need(1),
        {"a": share(need(2), "LEND"), "b": share(need(1), "LEND")},
        [Row("holds", "b", 0, need(), 100), Row("big", "a", 0, need(2), 1)],
        events=[UpdateCapacity(at=5000, unit=UNIT, capacity=2), UpdateCapacity(at=7000, unit=UNIT, capacity=1)],
        time_limits={ENVIRONMENT_EXCEEDED: 10},
    )

    big = replayed(scenario).jobs[1]

    assert (big.reason, big.finished_at) == (Reason.TIME_LIMIT_SERVICE_ENVIRONMENT, 17_000)


def test_an_owner_gets_its_instance_back_one_stop_later_and_the_victim_returns_after_it():
    outcome = replayed(
        borrower_and_lender(
            Row("a1", "a", 0, need(), 1000), Row("a2", "a", 0, need(), 1000), Row("b1", "b", 10, need(), 100)
        )
    )

    assert attempts(outcome) == {
        "a1": [(0, 1000, "SUCCEEDED")],
        "a2": [(0, 130, "PREEMPTED"), (230, 1230, "SUCCEEDED")],
        "b1": [(130, 230, "SUCCEEDED")],
    }
    assert outcome.jobs[1].lost == 10_000


def test_idle_of_a_reserve_share_is_never_lent():
    scenario = make_scenario(
        need(2),
        {"a": share(need()), "r": share(need(), "RESERVE")},
        [Row("a1", "a", 0, need(), 50), Row("a2", "a", 0, need(), 50)],
    )

    assert starts(replayed(scenario)) == {"a1": [0], "a2": [50]}


@pytest.mark.parametrize(("borrow_limit", "at_once"), [(0, 3), (33, 3), (34, 4), (50, 4), (100, 6), (-1, 6), (None, 6)])
def test_the_borrow_limit_is_a_percentage_of_the_limit_rounded_down(borrow_limit: int | None, at_once: int):
    scenario = make_scenario(
        need(6),
        {"a": share(need(3), borrow_limit=borrow_limit), "b": share(need(3), "LEND")},
        [Row(f"a{number}", "a", 0, need(), 10) for number in range(8)],
    )

    assert list(starts(replayed(scenario)).values()).count([0]) == at_once


@pytest.mark.parametrize(("unallocated", "start"), [("unusable", 50), ("borrowable", 0)])
def test_capacity_without_a_share_is_borrowed_only_if_it_is_assumed_to_be(unallocated: str, start: int):
    scenario = make_scenario(
        need(2),
        {"a": share(need())},
        [Row("a1", "a", 0, need(), 50), Row("a2", "a", 0, need(), 50)],
        assumptions={"unallocated_capacity": unallocated},
    )

    assert starts(replayed(scenario))["a2"] == [start]


@pytest.mark.parametrize(
    ("order", "victim"),
    [
        ("lowest_priority_youngest", "p1-late"),
        ("lowest_priority_oldest", "p1-early"),
        ("youngest", "p3"),
        ("oldest", "p2"),
        ("fewest", "p1-late"),
    ],
)
def test_victims_are_taken_in_the_assumed_order(order: str, victim: str):
    scenario = borrower_and_lender(
        Row("p2", "a", 0, need(), 100, priority=2),
        Row("p1-early", "a", 1, need(), 100, priority=1),
        Row("p1-late", "a", 2, need(), 100, priority=1),
        Row("p3", "a", 3, need(), 100, priority=3),
        Row("b1", "b", 10, need(), 100),
        limits=(1, 3),
        assumptions={"victim_order": order},
    )

    assert victims(replayed(scenario))[:1] == [victim]


@pytest.mark.parametrize(
    ("order", "expected"), [("lowest_priority_youngest", ["one-late", "one-early"]), ("fewest", ["two"])]
)
def test_fewest_stops_the_job_that_contributes_most(order: str, expected: list[str]):
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 100),
        Row("two", "a", 1, need(2), 100),
        Row("one-early", "a", 2, need(), 100),
        Row("one-late", "a", 3, need(), 100),
        Row("b1", "b", 10, need(2), 100),
        limits=(1, 4),
        assumptions={"victim_order": order},
        until=20_000,
    )

    assert victims(replayed(scenario)) == expected


def test_a_victim_that_the_others_make_needless_is_spared():
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 100),
        Row("two", "a", 1, need(2), 100),
        Row("one", "a", 2, need(), 100),
        Row("b1", "b", 10, need(2), 100),
        limits=(1, 3),
        until=20_000,
    )

    assert victims(replayed(scenario)) == ["two"]


@pytest.mark.parametrize(
    ("jobs", "limits", "capacity"),
    [
        ([Row("a1", "a", 0, need(), 100), Row("b1", "b", 10, need(), 1)], (1, 1), 1),
        ([*(Row(f"a{n}", "a", 0, need(), 100) for n in range(3)), Row("b1", "b", 10, need(2), 1)], (2, 2), 3),
    ],
    ids=["no share is above its limit", "the share above its limit has not enough"],
)
def test_nobody_is_stopped_if_it_would_not_be_enough(jobs: list[Row], limits: tuple[int, int], capacity: int):
    outcome = replayed(borrower_and_lender(*jobs, limits=limits, capacity=capacity))

    assert victims(outcome) == []
    assert starts(outcome)["b1"] == [100]


def test_what_is_free_already_is_kept_for_a_claim_that_waits_for_more():
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 1000),
        Row("running", "a", 0, need(), 1000),
        Row("starting", "a", 8, need(), 1000),
        Row("b1", "b", 10, need(2), 20),
        limits=(1, 2),
        assumptions={"startup_seconds": 5},
        until=200_000,
    )

    outcome = replayed(scenario)

    assert victims(outcome) == ["starting", "running"]
    assert attempts(outcome) == {
        "own": [(0, None, "RUNNING")],
        "running": [(0, 130, "PREEMPTED"), (155, None, "RUNNING")],
        "starting": [(8, 10, "PREEMPTED"), (155, None, "RUNNING")],
        "b1": [(130, 155, "SUCCEEDED")],
    }


def test_in_share_preemption_wants_a_strictly_lower_priority():
    def outcome(priority: int) -> OracleOutcome:
        jobs = [Row("low", "a", 0, need(), 50, priority=1), Row("next", "a", 10, need(), 50, priority=priority)]
        shares = {"a": share(need(), "RESERVE", in_share_preemption=True)}
        return replayed(make_scenario(need(), shares, jobs, assumptions={"stop_seconds": 0}))

    assert starts(outcome(1)) == {"low": [0], "next": [50]}
    assert starts(outcome(2)) == {"low": [0, 60], "next": [10]}


def test_a_job_borrows_before_it_preempts_in_its_share():
    scenario = make_scenario(
        need(2),
        {"a": share(need(), in_share_preemption=True), "b": share(need(), "LEND")},
        [Row("low", "a", 0, need(), 50), Row("high", "a", 10, need(), 50, priority=9)],
    )

    outcome = replayed(scenario)

    assert victims(outcome) == []
    assert starts(outcome) == {"low": [0], "high": [10]}


@pytest.mark.parametrize(("head_of_line", "small", "other"), [("strict", 20, 20), ("per_unit", 20, 3), ("none", 2, 3)])
def test_the_head_of_the_line_holds_up_what_it_is_assumed_to(head_of_line: str, small: int, other: int):
    scenario = make_scenario(
        {UNIT: 2, OTHER_UNIT: 1},
        {"a": share({UNIT: 2, OTHER_UNIT: 1}, "RESERVE")},
        [
            Row("first", "a", 0, need(), 10),
            Row("big", "a", 1, need(2), 10),
            Row("small", "a", 2, need(), 3),
            Row("other", "a", 3, {OTHER_UNIT: 1}, 3),
        ],
        assumptions={"head_of_line": head_of_line},
    )

    assert starts(replayed(scenario)) == {"first": [0], "big": [10], "small": [small], "other": [other]}


@pytest.mark.parametrize(("order", "first"), [("declaration", "a1"), ("least_used", "b1"), ("oldest_head", "b1")])
def test_shares_are_visited_in_the_assumed_order(order: str, first: str):
    scenario = make_scenario(
        need(2),
        {"a": share(need(2), "LEND"), "b": share(need(2), "LEND")},
        [
            Row("a0", "a", 0, need(), 100),
            Row("b0", "b", 0, need(), 10),
            Row("b1", "b", 1, need(), 100),
            Row("a1", "a", 2, need(), 100),
        ],
        assumptions={"share_order": order},
    )

    assert starts(replayed(scenario))[first] == [10]


@pytest.mark.parametrize(("idle_fifo", "first"), [("submitted", "victim"), ("runnable_since", "waiting")])
def test_idle_is_handed_out_by_the_assumed_time(idle_fifo: str, first: str):
    scenario = make_scenario(
        need(3),
        {"a": share(need()), "d": share(need()), "b": share(need(), "LEND")},
        [
            Row("a0", "a", 0, need(), 1000),
            Row("d0", "d", 0, need(), 1000),
            Row("victim", "a", 0, need(), 1000),
            Row("waiting", "d", 5, need(), 1000),
            Row("b1", "b", 10, need(), 10),
        ],
        assumptions={"idle_fifo": idle_fifo, "stop_seconds": 0},
        until=30_000,
    )

    assert starts(replayed(scenario))[first][-1] == 20


@pytest.mark.parametrize(("position", "first"), [("original", "victim"), ("back", "waiting")])
def test_a_victim_stands_where_it_is_assumed_to(position: str, first: str):
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 1000),
        Row("victim", "a", 0, need(), 1000),
        Row("waiting", "a", 5, need(), 1000),
        Row("b1", "b", 10, need(), 10),
        assumptions={"requeue_position": position, "stop_seconds": 0},
        until=30_000,
    )

    assert starts(replayed(scenario))[first][-1] == 20


def test_passes_run_at_multiples_of_the_interval():
    scenario = make_scenario(
        need(1),
        {"a": share(need())},
        [Row("a1", "a", 1, need(), 5), Row("a2", "a", 7, need(), 5)],
        assumptions={"scheduler_interval": 7},
    )

    assert attempts(replayed(scenario)) == {"a1": [(7, 12, "SUCCEEDED")], "a2": [(14, 19, "SUCCEEDED")]}


def test_a_job_without_work_ends_in_the_instant_of_its_dispatch_and_makes_way_in_it():
    scenario = make_scenario(
        need(1), {"a": share(need())}, [Row("a1", "a", 3, need(), 0), Row("a2", "a", 3, need(), 1)]
    )

    assert attempts(replayed(scenario)) == {"a1": [(3, 3, "SUCCEEDED")], "a2": [(3, 4, "SUCCEEDED")]}


def test_a_job_that_starts_up_and_has_no_work_is_gone_before_the_pass_of_that_instant():
    scenario = make_scenario(
        need(5),
        {"a": share(need(3)), "b": share(need(4))},
        [Row("a1", "a", 0, need(3), 1), Row("a2", "a", 0, need(), 0), Row("b1", "b", 0, need(3), 1)],
        assumptions={"startup_seconds": 3},
    )

    outcome = replayed(scenario)

    # At 3 s both jobs of share a move to RUNNING, and a2 ends. Were there a pass in between, b1 would stop a1.
    assert preemptions(outcome) == []
    assert starts(outcome) == {"a1": [0], "a2": [0], "b1": [4]}


def test_the_largest_latency_of_the_units_counts():
    scenario = make_scenario(
        {UNIT: 1, OTHER_UNIT: 1},
        {"a": share({UNIT: 1, OTHER_UNIT: 1})},
        [Row("a1", "a", 0, {UNIT: 1, OTHER_UNIT: 1}, 5)],
        assumptions={"provision_seconds": {UNIT: 4, "default": 1}, "startup_seconds": {OTHER_UNIT: 3}},
    )

    (made,) = replayed(scenario).jobs[0].attempts

    assert (made.running_at, made.stopped_at) == (7000, 12_000)


def test_a_victim_that_is_not_running_yet_gives_way_at_once():
    scenario = borrower_and_lender(
        Row("a1", "a", 0, need(), 100),
        Row("a2", "a", 0, need(), 100),
        Row("b1", "b", 3, need(), 100),
        assumptions={"startup_seconds": 5},
        until=10_000,
    )

    outcome = replayed(scenario)

    assert attempts(outcome)["a2"] == [(0, 3, "PREEMPTED")]
    assert attempts(outcome)["b1"] == [(3, None, "RUNNING")]
    assert outcome.jobs[1].lost == 0


@pytest.mark.parametrize(("checkpoint", "lost", "end"), [(None, 37, 152), (10, 7, 122), ("on_stop", 0, 115)])
def test_what_survives_a_stop_is_what_the_checkpoints_cover(checkpoint: int | str | None, lost: int, end: int):
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 1000),
        Row("victim", "a", 0, need(), 100, checkpoint=checkpoint),
        Row("b1", "b", 37, need(), 10),
        assumptions={"stop_seconds": 0, "resume_seconds": 5},
    )

    victim = replayed(scenario).jobs[1]

    assert (victim.lost, victim.finished_at) == (lost * 1000, end * 1000)


def test_progress_of_earlier_attempts_counts_towards_the_next_checkpoint():
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 1000),
        Row("victim", "a", 0, need(), 100, checkpoint=10),
        Row("b1", "b", 37, need(), 10),
        Row("b2", "b", 64, need(), 10),
        assumptions={"stop_seconds": 0, "resume_seconds": 5},
    )

    outcome = replayed(scenario)

    # 30 s survive the first stop; the second attempt works from 52 s on, so 42 s are done at 64 s, and 40 s survive.
    assert [one.lost for one in outcome.preemptions] == [7000, 2000]
    assert outcome.jobs[1].finished_at == (74 + 5 + 60) * 1000


@pytest.mark.parametrize(("retries", "failed_at"), [(0, 40), (1, 60), (None, None)])
def test_a_job_fails_when_it_is_preempted_once_more_than_it_may_be_requeued(retries: int | None, failed_at: int | None):
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 1000),
        Row("victim", "a", 0, need(), 100, retries=retries),
        Row("b1", "b", 37, need(), 10),
        Row("b2", "b", 57, need(), 10),
        assumptions={"stop_seconds": 3},
    )

    victim = replayed(scenario).jobs[1]

    if failed_at is None:
        assert victim.status is JobStatus.SUCCEEDED
    else:
        assert (victim.reason, victim.finished_at) == (Reason.PREEMPTION_RETRIES_EXHAUSTED, failed_at * 1000)


@pytest.mark.parametrize(
    ("timeout", "fails", "reason", "end"),
    [
        (None, False, Reason.NONE, 13),
        (10, False, Reason.NONE, 13),
        (9, False, Reason.ATTEMPT_TIMED_OUT, 12),
        (None, True, Reason.JOB_FAILED, 13),
        (10, True, Reason.JOB_FAILED, 13),
    ],
)
def test_an_attempt_times_out_only_if_the_job_does_not_end_by_itself(
    timeout: int | None, reason: Reason, end: int, *, fails: bool
):
    scenario = make_scenario(
        need(),
        {"a": share(need())},
        [Row("a1", "a", 0, need(), 10, timeout=timeout, fails=fails)],
        assumptions={"startup_seconds": 3},
    )

    job = replayed(scenario).jobs[0]

    assert (job.reason, job.finished_at) == (reason, end * 1000)


def test_a_job_tries_again_while_sagemaker_has_no_capacity():
    scenario = make_scenario(
        need(),
        {"a": share(need())},
        [Row("a1", "a", 1, need(), 10), Row("a2", "a", 2, need(), 10)],
        events=[Unavailable(at=0, unit=UNIT, until=700_000)],
        assumptions={"resume_seconds": 50},
    )

    assert attempts(replayed(scenario)) == {
        "a1": [
            (1, 301, "NO_CAPACITY"),
            (301, 601, "NO_CAPACITY"),
            (601, 901, "NO_CAPACITY"),
            (901, 911, "SUCCEEDED"),
        ],
        "a2": [(911, 921, "SUCCEEDED")],
    }


def test_a_disabled_share_fails_submissions_and_goes_on_with_what_it_has():
    scenario = make_scenario(
        need(),
        {"a": share(need())},
        [Row("runs", "a", 0, need(), 10), Row("waits", "a", 1, need(), 10), Row("late", "a", 5, need(), 10)],
        events=[SetShareState(at=5000, share="a", state=ShareState.DISABLED)],
    )

    outcome = replayed(scenario)

    assert starts(outcome) == {"runs": [0], "waits": [10], "late": []}
    assert (outcome.jobs[2].reason, outcome.jobs[2].finished_at) == (Reason.SHARE_DISABLED, 5000)


def test_termination_releases_at_once_whatever_the_job_does():
    scenario = borrower_and_lender(
        Row("own", "a", 0, need(), 1000),
        Row("stopping", "a", 0, need(), 1000),
        Row("waiting", "a", 0, need(), 1000),
        Row("b1", "b", 10, need(), 1000),
        Row("future", "b", 100, need(), 1000),
        events=[
            Terminate(at=at * 1000, job=job)
            for at, job in ((20, "stopping"), (21, "waiting"), (22, "own"), (23, "future"))
        ],
        until=50_000,
    )

    outcome = replayed(scenario)

    assert attempts(outcome) == {
        "own": [(0, 22, "TERMINATED")],
        "stopping": [(0, 20, "TERMINATED")],
        "waiting": [],
        "b1": [(20, None, "RUNNING")],
        "future": [],
    }
    assert [job.preemptions for job in outcome.jobs] == [0, 1, 0, 0, 0]
    assert outcome.jobs[4].status is JobStatus.SUBMITTED


def test_lowered_limits_make_jobs_eligible_but_stop_them_only_on_demand():
    scenario = make_scenario(
        need(2),
        {"r": share(need(2), "RESERVE"), "b": share(need(1), "LEND")},
        [Row("r1", "r", 0, need(), 500), Row("r2", "r", 0, need(), 500), Row("b1", "b", 20, need(), 500)],
        events=[UpdateShare(at=10_000, share="r", limits={UNIT: 1})],
    )

    assert preemptions(replayed(scenario)) == [(20, "r2", "b1", "CROSS_SHARE")]


def test_lowered_capacity_stops_nobody_and_lets_nobody_in():
    scenario = make_scenario(
        need(2),
        {"a": share(need(2))},
        [Row("a1", "a", 0, need(), 10), Row("a2", "a", 0, need(), 20), Row("a3", "a", 1, need(), 10)],
        events=[UpdateCapacity(at=5000, unit=UNIT, capacity=1)],
    )

    assert starts(replayed(scenario)) == {"a1": [0], "a2": [0], "a3": [20]}


def test_a_share_made_to_borrow_without_a_borrow_limit_borrows_without_limit():
    scenario = make_scenario(
        need(2),
        {"a": share(need(), "LEND"), "b": share(need(), "LEND")},
        [Row("a1", "a", 0, need(), 100), Row("a2", "a", 0, need(), 100)],
        events=[UpdateShare(at=7000, share="a", strategy=ResourceSharingStrategy.LEND_AND_BORROW)],
    )

    assert starts(replayed(scenario)) == {"a1": [0], "a2": [7]}


def test_a_replay_that_is_stopped_shows_a_stopping_job_as_running_and_its_preemption():
    scenario = borrower_and_lender(
        Row("a1", "a", 0, need(), 1000),
        Row("a2", "a", 0, need(), 1000),
        Row("b1", "b", 10, need(), 100),
        Row("b2", "b", 60, need(), 100),
        until=59_999,
    )

    outcome = replayed(scenario)

    stopping = outcome.jobs[1]
    assert (stopping.status, stopping.preemptions, stopping.lost) == (JobStatus.RUNNING, 1, 10_000)
    assert attempts(outcome)["a2"] == [(0, None, "RUNNING")]
    assert outcome.jobs[2].status is JobStatus.RUNNABLE
    assert outcome.jobs[3].status is JobStatus.SUBMITTED


def test_a_heterogeneous_job_takes_all_its_units_together():
    scenario = make_scenario(
        {UNIT: 1, OTHER_UNIT: 1},
        {"a": share({UNIT: 1, OTHER_UNIT: 1}, "LEND"), "b": share({UNIT: 1}, "LEND")},
        [
            Row("b1", "b", 0, need(), 10),
            Row("both", "a", 1, {UNIT: 1, OTHER_UNIT: 1}, 10),
            Row("after", "a", 2, {OTHER_UNIT: 1}, 10),
        ],
    )

    outcome = replayed(scenario)

    assert starts(outcome) == {"b1": [0], "both": [10], "after": [20]}
    assert outcome.dispatches == ((0, "b1"), (10_000, "both"), (20_000, "after"))
