"""The picture of time: step series by share and unit, and their integrals."""

from dataclasses import replace
from functools import cache

import polars as pl
import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.scheduler import NEVER, AttemptOutcome, JobStatus, Outcome, replay, usage
from policy_engine.topology import ResourceSharingStrategy
from policy_engine.trace import UpdateCapacity, UpdateShare

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
AMOUNTS = ["limit", "used", "own", "borrowed", "lent", "idle", "pending"]


def outcome_of(scenario: Scenario) -> Outcome:
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def series(outcome: Outcome, name: str, unit: str = G5) -> list[tuple[int, ...]]:
    """Rows of (seconds, limit, used, own, borrowed, lent, idle, pending)."""
    steps = outcome.usage.steps.filter((pl.col("share") == name) & (pl.col("unit") == unit))
    return [(row[0] // 1000, *row[1:]) for row in steps.select("at", *AMOUNTS).iter_rows()]


def instance_seconds(outcome: Outcome, name: str, unit: str = G5) -> dict[str, float]:
    rows = outcome.usage.instance_milliseconds.filter((pl.col("share") == name) & (pl.col("unit") == unit))
    return {amount: rows[amount].item() / 1000 for amount in AMOUNTS}


def lending_scenario(**options: object) -> Scenario:
    """A borrows what B leaves idle, until B's job claims it."""
    return make_scenario(
        {G5: 4},
        {"a": share({G5: 2}, LEND_AND_BORROW), "b": share({G5: 2}, LEND)},
        [
            Row("a1", "a", 0, {G5: 2}, 100),
            Row("a2", "a", 10, {G5: 2}, 100),
            Row("b1", "b", 30, {G5: 1}, 50),
        ],
        assumptions={"stop_seconds": 5},
        **options,
    )


def test_what_is_borrowed_is_what_lies_above_the_limit():
    assert series(outcome_of(lending_scenario()), "a") == [
        # at, limit, used, own, borrowed, lent, idle, pending
        (0, 2, 2, 2, 0, 0, 0, 0),
        (10, 2, 4, 2, 2, 0, 0, 0),
        (35, 2, 2, 2, 0, 0, 0, 2),
        (85, 2, 4, 2, 2, 0, 0, 0),
        (100, 2, 2, 2, 0, 0, 0, 0),
        (185, 2, 0, 0, 0, 0, 2, 0),
    ]


def test_a_lender_sees_what_it_lent_and_what_its_own_jobs_wait_for():
    assert series(outcome_of(lending_scenario()), "b") == [
        (0, 2, 0, 0, 0, 0, 2, 0),
        (10, 2, 0, 0, 0, 2, 0, 0),
        (30, 2, 0, 0, 0, 2, 0, 1),
        (35, 2, 1, 1, 0, 0, 1, 0),
        (85, 2, 0, 0, 0, 2, 0, 0),
        (100, 2, 0, 0, 0, 0, 2, 0),
    ]


def test_integrals_run_from_the_first_submission_to_the_end():
    outcome = outcome_of(lending_scenario())
    assert instance_seconds(outcome, "b") == {
        "limit": 370,
        "used": 50,
        "own": 50,
        "borrowed": 0,
        "lent": 80,
        "idle": 240,
        "pending": 5,
    }
    assert outcome.usage.capacity_milliseconds.rows() == [(G5, 740_000)]


def test_a_job_that_is_running_when_the_replay_stops_is_counted_until_then():
    outcome = outcome_of(lending_scenario(until=20_000))
    assert instance_seconds(outcome, "a")["used"] == 2 * 20 + 2 * 10
    assert instance_seconds(outcome, "b")["pending"] == 0


def test_a_lowered_limit_turns_own_use_into_borrowed_from_then_on():
    outcome = outcome_of(lending_scenario(events=[UpdateShare(at=60_000, share="a", limits={G5: 1})]))
    assert [row[:5] for row in series(outcome, "a") if row[0] in {35, 60}] == [(35, 2, 2, 2, 0), (60, 1, 2, 1, 1)]


def test_a_share_that_becomes_reserved_lends_no_more():
    to_reserve = UpdateShare(at=20_000, share="b", strategy=ResourceSharingStrategy.RESERVE)
    outcome = outcome_of(lending_scenario(events=[to_reserve]))
    assert [(row[0], row[5]) for row in series(outcome, "b")][:3] == [(0, 0), (10, 2), (20, 0)]


def test_capacity_counts_from_its_update_on():
    outcome = outcome_of(lending_scenario(events=[UpdateCapacity(at=100_000, unit=G5, capacity=2)]))
    assert outcome.usage.capacity_milliseconds["capacity"].item() == 4 * 100_000 + 2 * (outcome.ended_at - 100_000)


def test_what_is_lent_is_spread_over_the_lenders_in_proportion_to_what_they_do_not_use():
    scenario = make_scenario(
        {G5: 13},
        {
            "borrower": share({G5: 1}, LEND_AND_BORROW),
            "large": share({G5: 8}, LEND),
            "reserved": share({G5: 2}, RESERVE),
            "small": share({G5: 2}, LEND),
        },
        [Row("one", "borrower", 0, {G5: 6}, 60)],
    )
    outcome = outcome_of(scenario)
    assert {name: series(outcome, name)[0][5] for name in outcome.share_names} == {
        "borrower": 0,
        "large": 4,
        "reserved": 0,
        "small": 1,
    }


def test_each_unit_has_its_own_series():
    scenario = make_scenario(
        {G5: 2, P5: 1},
        {"a": share({G5: 2, P5: 1}, RESERVE)},
        [Row("both", "a", 5, {G5: 2, P5: 1}, 10), Row("one", "a", 5, {P5: 1}, 10)],
    )
    outcome = outcome_of(scenario)
    assert series(outcome, "a", G5) == [(0, 2, 0, 0, 0, 0, 2, 0), (5, 2, 2, 2, 0, 0, 0, 0), (15, 2, 0, 0, 0, 0, 2, 0)]
    assert series(outcome, "a", P5) == [
        (0, 1, 0, 0, 0, 0, 1, 0),
        (5, 1, 1, 1, 0, 0, 0, 1),
        (15, 1, 1, 1, 0, 0, 0, 0),
        (25, 1, 0, 0, 0, 0, 1, 0),
    ]


def test_a_picture_that_nobody_asks_for_is_not_made():
    outcome = outcome_of(lending_scenario())
    assert "usage" not in vars(outcome)


SEEDS = seeds(15, among=60)


@cache
def random_outcome(seed: int) -> Outcome:
    return outcome_of(random_scenario(seed))


def held_by_attempts(outcome: Outcome) -> dict[tuple[str, str], int]:
    """Instance-ms by share and unit, attempt by attempt."""
    held: dict[tuple[str, str], int] = {}
    attempts = outcome.attempts
    for row, job in enumerate(attempts.job.tolist()):
        stopped = int(attempts.stopped_at[row])
        time = (outcome.ended_at if stopped == NEVER else stopped) - int(attempts.scheduled_at[row])
        add_need(outcome, held, job, time)
    return held


def pending_by_jobs(outcome: Outcome) -> dict[tuple[str, str], int]:
    """Instance-ms by share and unit that jobs were RUNNABLE, job by job."""
    pending: dict[tuple[str, str], int] = {}
    attempts = outcome.attempts
    rows_of: dict[int, list[int]] = {}
    for row, job in enumerate(attempts.job.tolist()):
        rows_of.setdefault(job, []).append(row)
    for job, status in enumerate(outcome.jobs.status.tolist()):
        if status == JobStatus.SUBMITTED:
            continue
        since: int | None = int(outcome.trace.submitted_at[job])
        for row in rows_of.get(job, ()):
            assert since is not None
            add_need(outcome, pending, job, int(attempts.scheduled_at[row]) - since)
            returned = attempts.outcome[row] in {AttemptOutcome.PREEMPTED, AttemptOutcome.NO_CAPACITY}
            since = int(attempts.stopped_at[row]) if returned else None
        if since is not None:
            ended = int(outcome.jobs.finished_at[job])
            add_need(outcome, pending, job, (outcome.ended_at if ended == NEVER else ended) - since)
    return pending


def add_need(outcome: Outcome, totals: dict[tuple[str, str], int], job: int, time: int) -> None:
    name = outcome.share_names[outcome.share_of_job[job]]
    for unit, count in zip(outcome.trace.units, outcome.trace.needs[outcome.trace.need[job]].tolist(), strict=True):
        if count:
            totals[name, unit] = totals.get((name, unit), 0) + time * count


@pytest.mark.parametrize("seed", SEEDS)
def test_integrals_are_the_instance_hours_of_the_attempts(seed: int):
    outcome = random_outcome(seed)
    rows = outcome.usage.instance_milliseconds.rows(named=True)
    held, pending = held_by_attempts(outcome), pending_by_jobs(outcome)
    assert {(row["share"], row["unit"]): row["used"] for row in rows if row["used"]} == {
        key: value for key, value in held.items() if value
    }
    assert {(row["share"], row["unit"]): row["pending"] for row in rows if row["pending"]} == {
        key: value for key, value in pending.items() if value
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_the_integrals_of_the_steps_are_the_integrals(seed: int):
    picture = random_outcome(seed).usage
    until = pl.col("at").shift(-1).over("share", "unit").fill_null(picture.end)
    lasted = until.clip(picture.start, picture.end) - pl.col("at").clip(picture.start, picture.end)
    summed = (
        picture.steps.with_columns(lasted.alias("lasted"))
        .group_by("share", "unit", maintain_order=True)
        .agg((pl.col(AMOUNTS) * pl.col("lasted")).sum())
    )
    assert summed.equals(picture.instance_milliseconds)


@pytest.mark.parametrize("seed", SEEDS)
def test_use_and_limit_are_split_without_remainder(seed: int):
    steps = random_outcome(seed).usage.steps
    assert steps.select((pl.col(AMOUNTS) >= 0).all()).row(0) == (True,) * len(AMOUNTS)
    assert steps.select(
        (pl.col("used") == pl.col("own") + pl.col("borrowed")).all(),
        (pl.col("limit") == pl.col("own") + pl.col("lent") + pl.col("idle")).all(),
        ((pl.col("borrowed") == 0) | (pl.col("used") > pl.col("limit"))).all(),
    ).row(0) == (True, True, True)


@pytest.mark.parametrize("seed", SEEDS)
def test_all_that_is_borrowed_is_lent_as_far_as_the_lenders_have_it(seed: int):
    """Without control events, so that who lends is known."""
    scenario = random_scenario(seed)
    outcome = outcome_of(replace(scenario, events=()))
    lends = {owned.name: owned.share.strategy.lends for owned in scenario.topology.quota_shares()}
    for _, steps in outcome.usage.steps.sort("at", maintain_order=True).group_by("unit", maintain_order=True):
        now: dict[str, dict[str, int]] = {}
        for _, instant in steps.group_by("at", maintain_order=True):
            now |= {row["share"]: row for row in instant.iter_rows(named=True)}
            lent = sum(row["lent"] for row in now.values())
            unused = sum(row["limit"] - row["own"] for name, row in now.items() if lends[name])
            assert lent == min(unused, sum(row["borrowed"] for row in now.values()))
            assert not any(row["lent"] for name, row in now.items() if not lends[name])


def test_a_picture_made_in_small_parts_is_the_same(monkeypatch: pytest.MonkeyPatch):
    for seed in range(20):
        whole = outcome_of(random_scenario(seed)).usage
        steps, integrals = whole.steps, whole.instance_milliseconds
        with monkeypatch.context() as patched:
            patched.setattr(usage, "_CELLS_AT_ONCE", 12)
            parts = outcome_of(random_scenario(seed)).usage
            assert parts.steps.equals(steps)
            assert parts.instance_milliseconds.equals(integrals)
