"""What a replay's instance-hours come to in GPU-hours and money."""

from datetime import date

import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, make_scenario, random_scenario, share

from policy_engine.assessment.costs import KINDS, Costs, costs_of
from policy_engine.assessment.summary import summarize
from policy_engine.pricing import Prices
from policy_engine.scheduler import Outcome, replay
from policy_engine.topology import QuotaShare, Team, Topology

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
HOUR = 3600
MONEY = {G5: 2.0, P5: 50.0}


def priced(**per_hour: float) -> Prices:
    return Prices("USD", "us-east-1", date(2026, 11, 30), per_hour or MONEY)


def borrowed() -> Outcome:
    """`big` borrows 2 of 4 for an hour, is stopped for `p1`, and does it all again afterwards."""
    jobs = [Row("big", "batch", 0, {G5: 4}, 2 * HOUR), Row("p1", "prod", HOUR, {G5: 2}, HOUR)]
    scenario = make_scenario(
        {G5: 4},
        {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)},
        jobs,
        assumptions={"stop_seconds": 0},
    )
    return replay(scenario.topology, scenario.trace, use_compiled=False)


def costs(outcome: Outcome, prices: Prices | None = None) -> Costs:
    return costs_of(summarize(outcome), prices)


def test_hours_split_into_own_borrowed_lent_idle_and_wasted():
    rows = costs(borrowed()).shares.select(
        "share", "own_instance_hours", "borrowed_instance_hours", "lent_instance_hours", "wasted_instance_hours"
    )
    assert rows.rows() == [("batch", 6, 6, 0, 4), ("prod", 2, 0, 6, 0)]


def test_without_prices_there_is_no_money():
    made = costs(borrowed())
    assert (made.queue["used_instance_hours"].item(), made.queue["used_cost"].item()) == (14, None)
    assert made.unpriced == ()


def test_money_is_the_price_of_each_type_times_its_hours():
    jobs = [Row("small", "a", 0, {G5: 2}, HOUR), Row("large", "a", 0, {P5: 1}, HOUR)]
    scenario = make_scenario({G5: 4, P5: 1}, {"a": share({G5: 3, P5: 1}, RESERVE)}, jobs)
    made = costs(replay(scenario.topology, scenario.trace, use_compiled=False), priced())
    assert made.shares.select("own_cost", "idle_cost", "used_cost").row(0) == (2 * 2 + 50, 2, 54)
    assert made.queue.select("used_cost", "idle_cost").row(0) == (54, 2 * 2)


def test_gpu_hours_count_the_gpus_of_each_type():
    jobs = [Row("small", "a", 0, {G5: 2}, HOUR), Row("large", "a", 0, {P5: 1}, HOUR)]
    scenario = make_scenario({G5: 2, P5: 1}, {"a": share({G5: 2, P5: 1}, RESERVE)}, jobs)
    made = costs(replay(scenario.topology, scenario.trace, use_compiled=False))
    assert made.queue["used_gpu_hours"].item() == 2 + 8


def test_what_has_no_price_or_unknown_gpus_is_not_taken_for_free():
    unknown = "ml.p99.48xlarge"
    jobs = [Row("small", "a", 0, {G5: 1}, HOUR), Row("large", "b", 0, {unknown: 1}, HOUR)]
    shares = {"a": share({G5: 1}, RESERVE), "b": share({unknown: 1}, RESERVE)}
    scenario = make_scenario({G5: 1, unknown: 1}, shares, jobs)
    made = costs(replay(scenario.topology, scenario.trace, use_compiled=False), priced(**{G5: 2.0}))
    assert (made.unpriced, made.uncounted) == ((unknown,), (unknown,))
    assert made.shares["used_cost"].to_list() == [2, None]
    assert made.shares["used_gpu_hours"].to_list() == [1, None]
    assert made.queue["used_cost"].item() is None
    assert made.queue["used_instance_hours"].item() == 2


def test_teams_add_up_their_shares():
    shares = {name: QuotaShare(capacity={G5: 1}, strategy=RESERVE) for name in ("a", "b", "c")}
    teams = {"one": Team(shares={"a": shares["a"], "b": shares["b"]}), "two": Team(shares={"c": shares["c"]})}
    jobs = [Row(name, name, 0, {G5: 1}, HOUR) for name in "abc"]
    trace = make_scenario({G5: 3}, {name: share({G5: 1}) for name in shares}, jobs).trace
    made = costs(replay(Topology(name="t", capacity={G5: 3}, teams=teams), trace, use_compiled=False), priced())
    assert made.teams.select("team", "own_cost").rows() == [("one", 4), ("two", 2)]


@pytest.mark.parametrize("first_seed", range(0, 60, 20))
def test_shares_teams_and_queue_agree_and_what_is_used_is_own_or_borrowed(first_seed: int):
    for seed in range(first_seed, first_seed + 20):
        scenario = random_scenario(seed)
        outcome = replay(
            scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False
        )
        made = costs(outcome, priced(**dict.fromkeys(scenario.topology.units(), 1.5)))
        for frame in (made.shares, made.teams, made.queue):
            assert (frame["own_cost"] + frame["borrowed_cost"]).to_list() == pytest.approx(
                frame["used_cost"].to_list(), abs=1e-4
            )
            assert (frame["wasted_instance_hours"] >= frame["lost_instance_hours"]).all()
        for kind in set(KINDS) - {"idle"}:
            column = f"{kind}_instance_hours"
            assert made.shares[column].sum() == pytest.approx(made.queue[column].item(), abs=1e-4)
            assert made.teams[column].sum() == pytest.approx(made.queue[column].item(), abs=1e-4)
