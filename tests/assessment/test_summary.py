"""What a replay comes to, in numbers."""

import numpy as np
import polars as pl
import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.assessment.summary import Summary, summarize
from policy_engine.report import assess
from policy_engine.scheduler import NEVER, Outcome, replay
from policy_engine.topology import QuotaShare, ShareState, Team, Topology
from policy_engine.trace import SetShareState

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
SECOND = 1000


def outcome_of(scenario: Scenario) -> Outcome:
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def row_of(summary: Summary, name: str) -> dict[str, int | float | None]:
    return summary.shares.filter(summary.shares["share"] == name).row(0, named=True)


def claimed() -> Outcome:
    """a1 and a2 fill the share `a` twice over; b1 takes its own capacity back from a2."""
    return outcome_of(
        make_scenario(
            {G5: 5},
            {"a": share({G5: 2}, LEND_AND_BORROW), "b": share({G5: 2}, LEND), "c": share({G5: 1}, RESERVE)},
            [
                Row("a1", "a", 0, {G5: 2}, 100),
                Row("a2", "a", 10, {G5: 2}, 100),
                Row("b1", "b", 30, {G5: 1}, 50),
            ],
            assumptions={"stop_seconds": 5},
        )
    )


def test_a_share_s_preemptions_are_those_of_its_jobs_and_those_for_its_jobs():
    summary = summarize(claimed())
    assert (row_of(summary, "a")["preemptions_suffered"], row_of(summary, "a")["preemptions_caused"]) == (1, 0)
    assert (row_of(summary, "b")["preemptions_suffered"], row_of(summary, "b")["preemptions_caused"]) == (0, 1)


def test_lost_work_counts_once_for_each_instance():
    assert row_of(summarize(claimed()), "a")["lost"] == 2 * 20 * SECOND


def test_use_splits_into_own_and_borrowed_and_into_work_that_survived_and_the_rest():
    row = row_of(summarize(claimed()), "a")
    assert (row["used"], row["own"], row["borrowed"]) == (450 * SECOND, 370 * SECOND, 80 * SECOND)
    assert row["productive"] == 400 * SECOND
    assert row["goodput"] == 400 / 450
    assert row["utilization"] == 450 / 370


def test_a_share_without_jobs_has_its_row_with_nothing_to_measure():
    row = row_of(summarize(claimed()), "c")
    assert (row["jobs"], row["used"], row["utilization"]) == (0, 0, 0)
    assert (row["wait_p50"], row["wait_max"], row["goodput"]) == (None, None, None)


def test_the_queue_is_measured_against_the_service_environment():
    queue = summarize(claimed()).queue.row(0, named=True)
    assert queue["limit"] == 5 * 185 * SECOND
    assert queue["used"] == (450 + 50) * SECOND
    assert queue["idle"] == queue["limit"] - queue["used"]
    assert (queue["jobs"], queue["succeeded"], queue["preemptions_suffered"]) == (3, 3, 1)


def test_the_rate_of_preemptions_is_of_the_jobs_that_ran():
    row = row_of(summarize(claimed()), "a")
    assert (row["preempted"], row["preemption_rate"]) == (1, 1 / 2)
    queue = summarize(claimed()).queue.row(0, named=True)
    assert (queue["preempted"], queue["preemption_rate"]) == (1, 1 / 3)
    assert row_of(summarize(claimed()), "c")["preemption_rate"] is None


def test_figures_per_day_are_over_the_time_of_the_replay():
    days = 185 / (24 * 3600)
    row = row_of(summarize(claimed()), "a")
    assert row["preemptions_per_day"] == pytest.approx(1 / days)
    assert row["lost_per_day"] == pytest.approx(40 * SECOND / days)


def test_a_replay_of_no_time_has_no_figures_per_day():
    row = row_of(summarize(one_after_another(1, until=0)), "a")
    assert (row["preemptions_per_day"], row["lost_per_day"]) == (None, None)


def test_a_job_that_is_preempted_twice_counts_once_in_the_rate():
    jobs = [
        Row("big", "batch", 0, {G5: 4}, 1000),
        Row("p1", "prod", 100, {G5: 2}, 10),
        Row("p2", "prod", 600, {G5: 2}, 10),
    ]
    shares = {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)}
    row = row_of(summarize(outcome_of(make_scenario({G5: 4}, shares, jobs))), "batch")
    assert (row["preemptions_suffered"], row["preempted"], row["preemption_rate"]) == (2, 1, 1)


def test_work_is_told_apart_by_instance_type():
    shares = {"a": share({G5: 2, P5: 1}, RESERVE)}
    jobs = [Row("small", "a", 0, {G5: 2}, 10), Row("large", "a", 0, {P5: 1}, 20)]
    summary = summarize(outcome_of(make_scenario({G5: 2, P5: 1}, shares, jobs)))
    assert summary.units.select("unit", "productive", "lost").rows() == [(G5, 20 * SECOND, 0), (P5, 20 * SECOND, 0)]


def one_after_another(count: int, **options: object) -> Outcome:
    """Jobs of 10 s, submitted at once to a share that runs one at a time: they wait 0, 10, 20, … seconds."""
    jobs = [Row(f"j{number}", "a", 0, {G5: 1}, 10) for number in range(count)]
    return outcome_of(make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, jobs, **options))


@pytest.mark.parametrize(
    ("count", "seconds"),
    [(1, [0, 0, 0, 0]), (2, [0, 10, 10, 10]), (20, [90, 180, 190, 190]), (100, [490, 940, 980, 990])],
)
def test_a_percentile_is_the_least_wait_that_so_many_percent_do_not_exceed(count: int, seconds: list[int]):
    row = row_of(summarize(one_after_another(count)), "a")
    waits = [row[name] for name in ("wait_p50", "wait_p95", "wait_p99", "wait_max")]
    assert waits == [second * SECOND for second in seconds]


def test_jobs_that_never_ran_are_counted_and_are_in_no_percentile():
    row = row_of(summarize(one_after_another(10, until=35 * SECOND)), "a")
    assert (row["jobs"], row["succeeded"], row["running"], row["runnable"], row["never_ran"]) == (10, 3, 1, 6, 6)
    assert row["wait_max"] == 30 * SECOND


def test_jobs_that_the_replay_was_stopped_before_are_apart():
    jobs = [Row("now", "a", 0, {G5: 1}, 10), Row("later", "a", 100, {G5: 1}, 10)]
    outcome = outcome_of(make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, jobs, until=50 * SECOND))
    row = row_of(summarize(outcome), "a")
    assert (row["jobs"], row["not_submitted"], row["never_ran"]) == (1, 1, 0)
    assert row["limit"] == 50 * SECOND


def test_a_job_refused_by_a_disabled_share_never_ran():
    disabled = SetShareState(at=0, share="a", state=ShareState.DISABLED)
    row = row_of(summarize(one_after_another(3, events=[disabled])), "a")
    assert (row["failed"], row["never_ran"], row["pending"]) == (3, 3, 0)


def test_nothing_is_productive_of_a_job_that_was_preempted_once_too_often():
    outcome = outcome_of(
        make_scenario(
            {G5: 1},
            {"a": share({G5: 1}, RESERVE, in_share_preemption=True)},
            [
                Row("low", "a", 0, {G5: 1}, 100, checkpoint="on_stop", retries=0),
                Row("high", "a", 30, {G5: 1}, 10, priority=1),
            ],
        )
    )
    row = row_of(summarize(outcome), "a")
    assert (row["lost"], row["productive"], row["failed"]) == (0, 10 * SECOND, 1)


def test_teams_add_up_their_shares_and_measure_their_own_waits():
    shares = {name: QuotaShare(capacity={G5: 1}, strategy=RESERVE) for name in ("a", "b", "c")}
    topology = Topology(
        name="teams",
        capacity={G5: 3},
        teams={
            "one": Team(shares={"a": shares["a"], "b": shares["b"]}),
            "two": Team(shares={"c": shares["c"]}),
        },
    )
    jobs = [Row(f"{name}{number}", name, 0, {G5: 1}, 10) for name in "abc" for number in range(2 if name == "a" else 1)]
    trace = make_scenario({G5: 3}, {name: share({G5: 1}) for name in shares}, jobs).trace
    summary = summarize(replay(topology, trace, use_compiled=False))
    assert summary.teams.select("team", "jobs", "used", "wait_max").rows() == [
        ("one", 3, 30 * SECOND, 10 * SECOND),
        ("two", 1, 10 * SECOND, 0),
    ]


def test_instance_types_are_measured_one_by_one():
    jobs = [Row("small", "a", 0, {G5: 2}, 10), Row("large", "a", 0, {P5: 1}, 20)]
    outcome = outcome_of(make_scenario({G5: 4, P5: 1}, {"a": share({G5: 2, P5: 1}, RESERVE)}, jobs))
    summary = summarize(outcome)
    assert summary.units.select("unit", "limit", "used", "utilization").rows() == [
        (G5, 80 * SECOND, 20 * SECOND, 0.25),
        (P5, 20 * SECOND, 20 * SECOND, 1),
    ]
    assert summary.share_units.select("share", "unit", "utilization").rows() == [("a", G5, 0.5), ("a", P5, 1)]


@pytest.mark.parametrize("first_seed", seeds(30, among=150, step=30))
def test_shares_teams_units_and_queue_agree(first_seed: int):
    for seed in range(first_seed, first_seed + 30):
        outcome = outcome_of(random_scenario(seed))
        summary = assess(outcome).summary
        queue = summary.queue.row(0, named=True)
        additive = ["jobs", "succeeded", "failed", "runnable", "running", "never_ran", "not_submitted"]
        additive += ["preempted", "preemptions_suffered", "preemptions_caused", "lost", "productive"]
        additive += ["used", "own", "borrowed", "lent", "pending"]
        for frame in (summary.shares, summary.teams):
            assert frame.select(additive).sum().row(0, named=True) == {name: queue[name] for name in additive}
        for name in ("limit", "used", "own", "borrowed", "lent", "idle", "pending", "lost", "productive"):
            assert summary.units[name].sum() == queue[name]
        for name in ("used", "borrowed", "lost", "productive"):
            of_shares = summary.share_units.group_by("share", maintain_order=True).agg(pl.col(name).sum())
            assert of_shares[name].to_list() == summary.shares[name].to_list()
        assert queue["preemptions_suffered"] == queue["preemptions_caused"] == len(outcome.preemptions.at)
        assert queue["jobs"] == queue["succeeded"] + queue["failed"] + queue["runnable"] + queue["running"]
        assert queue["productive"] + queue["lost"] <= queue["used"]
        ran = outcome.jobs.first_scheduled_at != NEVER
        waits = np.sort((outcome.jobs.first_scheduled_at - outcome.trace.submitted_at)[ran])
        assert queue["wait_max"] == (int(waits[-1]) if len(waits) else None)
