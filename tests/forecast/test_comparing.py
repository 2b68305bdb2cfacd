"""Two replays of one trace, compared."""

from datetime import date
from math import inf

import polars as pl
import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.forecast import Comparison, Variant, compare
from policy_engine.forecast.figures import FIGURES
from policy_engine.forecast.jobs import most
from policy_engine.pricing import Prices
from policy_engine.topology import Expectations, Topology

G5 = "ml.g5.xlarge"
HOUR = 3600


def queueing(instances: int, **shares: int) -> Topology:
    limits = shares or {"a": instances}
    return make_scenario({G5: instances}, {name: share({G5: n}, RESERVE) for name, n in limits.items()}, []).topology


def jobs(count: int, name: str = "a") -> Scenario:
    return make_scenario({G5: 1}, {name: share({G5: 1})}, [Row(f"j{n}", name, 0, {G5: 1}, 10) for n in range(count)])


def compared(current: Topology, proposed: Topology, scenario: Scenario, **options: object) -> Comparison:
    (comparison,) = compare([Variant("now", current), Variant("next", proposed)], scenario.trace, **options)
    return comparison


def figure(frame: pl.DataFrame, name: str, metric: str) -> tuple[float | None, ...]:
    return frame.filter(name=name, metric=metric).select("current", "proposed", "difference").row(0)


def test_figures_stand_side_by_side_with_their_difference():
    comparison = compared(queueing(1), queueing(2), jobs(10))
    assert figure(comparison.shares, "a", "wait_max") == (90, 40, -50)
    assert figure(comparison.queue, "queue", "wait_max") == (90, 40, -50)
    assert figure(comparison.teams, comparison.teams["name"][0], "wait_p50") == (40, 20, -20)
    assert figure(comparison.shares, "a", "utilization") == (100, 100, 0)


def test_each_name_has_every_figure_with_its_unit():
    comparison = compared(queueing(1), queueing(2), jobs(3))
    assert comparison.shares["metric"].to_list() == [each.name for each in FIGURES]
    assert comparison.shares["unit"].to_list() == [each.unit for each in FIGURES]


def test_what_there_is_nothing_to_measure_of_is_null():
    comparison = compared(queueing(1), queueing(2), jobs(3))
    assert figure(comparison.shares, "a", "cost") == (None, None, None)
    renamed = compared(queueing(2, a=1, b=1), queueing(2, a=1, c=1), jobs(3))
    assert figure(renamed.shares, "b", "never_ran") == (0, None, None)
    assert figure(renamed.shares, "c", "never_ran") == (None, 0, None)


def test_money_is_compared_where_there_are_prices():
    prices = Prices("USD", "us-east-1", date(2026, 11, 30), {G5: 3600.0})
    comparison = compared(queueing(1), queueing(2), jobs(3), prices=prices)
    assert figure(comparison.queue, "queue", "cost") == (30, 30, 0)


def test_a_queue_that_starves_its_jobs_does_not_look_quick():
    scenario = make_scenario({G5: 2}, {"a": share({G5: 2})}, [Row("big", "a", 0, {G5: 2}, 10)])
    comparison = compared(queueing(2), queueing(2, a=1), scenario)
    assert figure(comparison.shares, "a", "wait_max") == (0, inf, inf)
    assert figure(compared(queueing(2, a=1), queueing(2, a=1), scenario).shares, "a", "wait_max") == (inf, inf, 0)
    assert comparison.jobs["effect"].to_list() == ["loses"]


def test_jobs_gain_and_lose_by_when_they_end():
    shares = {"a": share({G5: 1}, RESERVE), "b": share({G5: 1}, RESERVE)}
    rows = [Row("a1", "a", 0, {G5: 1}, 60), Row("a2", "a", 0, {G5: 1}, 60), Row("b1", "b", 0, {G5: 1}, 60)]
    rows += [Row("b2", "b", 0, {G5: 1}, 60)]
    scenario = make_scenario({G5: 3}, shares, rows)
    comparison = compared(queueing(3, a=1, b=2), queueing(3, a=2, b=1), scenario)
    assert comparison.jobs.select("job", "difference", "effect").rows() == [
        ("a1", 0, "same"),
        ("a2", -60, "gains"),
        ("b1", 0, "same"),
        ("b2", 60, "loses"),
    ]
    assert most(comparison.jobs, "loses", 5)["job"].to_list() == ["b2"]


def test_those_that_no_longer_succeed_lose_most():
    rows = [
        Row("now", "a", 0, {G5: 1}, HOUR),
        Row("later", "a", 0, {G5: 1}, HOUR),
        Row("big", "a", 9 * HOUR, {G5: 2}, 60),
    ]
    scenario = make_scenario({G5: 2}, {"a": share({G5: 2})}, rows)
    comparison = compared(queueing(2), queueing(2, a=1), scenario)
    assert most(comparison.jobs, "loses", 5).select("job", "difference").rows() == [("big", None), ("later", HOUR)]
    assert most(comparison.jobs, "loses", 1)["job"].to_list() == ["big"]
    (team,) = comparison.team_effects.iter_rows(named=True)
    assert (team["jobs"], team["gain"], team["lose"], team["no_longer_succeed"]) == (3, 0, 2, 1)
    assert team["mean_difference"] == HOUR / 2


def test_several_proposals_are_each_compared_with_the_first():
    variants = [Variant(str(n), queueing(n)) for n in (1, 2, 5)]
    found = compare(variants, jobs(10).trace)
    assert [figure(each.queue, "queue", "wait_max") for each in found] == [(90, 40, -50), (90, 10, -80)]


def test_one_variant_is_compared_with_nothing():
    with pytest.raises(ValueError, match="two variants at least"):
        compare([Variant("now", queueing(1))], jobs(1).trace)


def test_a_topology_is_compared_with_itself_under_other_assumptions():
    topology = queueing(1)
    slow = topology.assumptions.replaced({"startup_seconds": {"default": 5}})
    fast = topology.assumptions.replaced({"startup_seconds": {"default": 0}})
    (found,) = compare([Variant("fast", topology, fast), Variant("slow", topology, slow)], jobs(2).trace)
    assert figure(found.queue, "queue", "wait_max") == (10, 15, 5)


def test_a_proposal_is_judged_by_its_own_expectations_with_the_first_as_baseline():
    strict = queueing(1).model_copy(update={"expectations": {"a": Expectations(wait_max="<= baseline - 1s")}})
    assert compared(queueing(2), strict, jobs(10)).broken
    (verdict,) = compared(queueing(2), strict, jobs(10)).proposed.assessment.verdicts
    assert (verdict.measured, verdict.baseline) == (90_000, 40_000)
    better = queueing(5).model_copy(update={"expectations": strict.expectations})
    assert not compared(queueing(2), better, jobs(10)).broken


def test_jobs_that_cannot_be_submitted_are_told_and_not_compared():
    scenario = make_scenario(
        {G5: 2},
        {"a": share({G5: 1}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)},
        [Row("a1", "a", 0, {G5: 1}, 60), Row("b1", "b", 0, {G5: 1}, 60)],
    )
    comparison = compared(scenario.topology, queueing(1, a=1), scenario)
    assert (comparison.current.left_out, comparison.proposed.left_out) == ({}, {"b": 1})
    assert comparison.jobs["job"].to_list() == ["a1"]


@pytest.mark.parametrize("first_seed", seeds(20, among=60, step=20))
def test_nothing_differs_from_itself(first_seed: int):
    for seed in range(first_seed, first_seed + 20):
        made = random_scenario(seed)
        same = [Variant("now", made.topology), Variant("next", made.topology)]
        (comparison,) = compare(same, made.trace, events=made.events, until=made.until)
        assert set(comparison.jobs["effect"]) <= {"same"}
        for frame in (comparison.shares, comparison.teams, comparison.queue):
            assert frame["difference"].fill_null(0).to_list() == [0] * len(frame)
            assert frame.filter(pl.col("current").is_null() != pl.col("proposed").is_null()).is_empty()
