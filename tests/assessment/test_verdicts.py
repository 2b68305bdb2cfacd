"""Whether a replay shows what its topology expects."""

from datetime import date
from math import inf, isnan

import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, make_scenario, share

from policy_engine.assessment.verdicts import Verdict
from policy_engine.pricing import Prices
from policy_engine.report import assess
from policy_engine.scheduler import Outcome, replay
from policy_engine.topology import Expectations, ShareState
from policy_engine.trace import ControlEvent, SetShareState, Terminate

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
HOUR = 3600
DAY = 24 * HOUR


def judged(scenario: object, target: str, **bounds: object) -> tuple[Verdict, ...]:
    """The verdicts on these expectations of one share, team or the queue."""
    topology = scenario.topology.model_copy(update={"expectations": {target: Expectations(**bounds)}})
    outcome = replay(topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)
    return assess(outcome).verdicts


def one(scenario: object, target: str, **bounds: object) -> Verdict:
    (verdict,) = judged(scenario, target, **bounds)
    return verdict


def queueing(count: int = 10, **options: object) -> object:
    """Jobs of 10 s that run one at a time: they wait 0, 10, 20, … seconds."""
    jobs = [Row(f"j{number}", "a", 0, {G5: 1}, 10) for number in range(count)]
    return make_scenario({G5: 2}, {"a": share({G5: 1}, RESERVE), "b": share({G5: 1}, RESERVE)}, jobs, **options)


def preempting(**options: object) -> object:
    """`big` borrows 2 of 4, is stopped at 1 h and at 26 h, and loses all it did."""
    jobs = [
        Row("big", "batch", 0, {G5: 4}, 30 * HOUR),
        Row("p1", "prod", HOUR, {G5: 2}, HOUR),
        Row("p2", "prod", 26 * HOUR, {G5: 2}, HOUR),
    ]
    shares = {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)}
    return make_scenario({G5: 4}, shares, jobs, **options)


def test_a_bound_that_is_met_holds_and_says_nothing_more():
    verdict = one(queueing(), "a", wait_max="90s")
    assert (verdict.held, verdict.measured, verdict.because) == (True, 90_000, "")


def test_a_wait_that_is_too_long_names_the_job_that_waited_longest():
    verdict = one(queueing(), "a", wait_p50="30s")
    assert (verdict.held, verdict.measured) == (False, 40_000)
    assert verdict.because == "6 of 10 jobs waited longer; j9 waited 1m30s"
    assert (verdict.job, verdict.at) == ("j9", 0)


def test_a_job_that_never_ran_has_waited_without_end():
    jobs = [Row("fits", "a", 0, {G5: 1}, 10), Row("huge", "a", 5, {G5: 2}, 10)]
    verdict = one(make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, jobs), "a", wait_max="1d")
    assert (verdict.held, verdict.measured, verdict.job) == (False, inf, "huge")
    assert verdict.because == "1 of 2 jobs waited longer; huge never ran"


def test_a_median_stands_when_few_jobs_never_ran():
    jobs = [*(Row(f"j{number}", "a", 0, {G5: 1}, 0) for number in range(3)), Row("huge", "a", 5, {G5: 2}, 10)]
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, jobs)
    median, worst = judged(scenario, "a", wait_p50=0, wait_p95=0)
    assert (median.held, worst.held) == (True, False)


def test_a_job_still_waiting_when_the_replay_is_stopped_has_waited_until_then():
    assert one(queueing(until=25_000), "a", wait_max="25s").measured == 25_000
    assert not one(queueing(until=25_000), "a", wait_max="24s").held


@pytest.mark.parametrize(
    "event",
    [SetShareState(at=0, share="a", state=ShareState.DISABLED), Terminate(at=5_000, job="late")],
    ids=["refused by a DISABLED share", "terminated before it ran"],
)
def test_a_job_that_nobody_let_run_tells_nothing_about_waits(event: ControlEvent):
    jobs = [Row("early", "b", 0, {G5: 1}, 60), Row("first", "a", 0, {G5: 1}, 60), Row("late", "a", 0, {G5: 1}, 60)]
    shares = {"a": share({G5: 1}, RESERVE), "b": share({G5: 1}, RESERVE)}
    verdict = one(make_scenario({G5: 2}, shares, jobs, events=[event]), "queue", wait_max="1h")
    assert verdict.held


def test_a_preemption_too_many_names_the_first():
    verdict = one(preempting(), "batch", preemptions=0)
    assert (verdict.measured, verdict.job, verdict.at) == (2, "big", HOUR * 1000)
    assert verdict.because == "the first: big at 01:00:00, for p1 of prod"


def test_preemptions_count_for_those_that_suffer_them():
    assert one(preempting(), "prod", preemptions=0).held


def test_lost_work_names_the_largest_loss():
    verdict = one(preempting(), "batch", lost_instance_hours=50)
    assert verdict.measured == 4 * (1 + 24 - 120 / HOUR)
    assert verdict.because.startswith("the largest loss, 95.9 instance-hours: big at 1d 02:00:00")


def test_figures_per_day_are_over_the_days_of_the_replay_and_name_the_worst_day():
    verdict = one(preempting(), "batch", lost_instance_hours_per_day=10)
    days = (27 * HOUR + 30 * HOUR + 120) / DAY
    assert verdict.measured == pytest.approx(
        one(preempting(), "batch", lost_instance_hours=0).measured / days, rel=0.01
    )
    assert (verdict.because, verdict.at) == ("most on the day from 1d 00:00:00: 95.9 instance-hours", DAY * 1000)
    assert (
        one(preempting(), "batch", preemptions_per_day="< 0.5").because == "most on the day from 00:00:00: 1 preemption"
    )


def test_a_bound_that_asks_for_more_than_there_is_says_so():
    verdict = one(queueing(), "a", preemptions_per_day=">= 1")
    assert (verdict.held, verdict.because) == (False, "there was none at all")


def test_utilization_is_exact_at_its_bound_and_names_the_instance_types():
    jobs = [Row("small", "a", 0, {G5: 3}, 10), Row("large", "a", 0, {P5: 1}, 2)]
    scenario = make_scenario({G5: 4, P5: 1}, {"a": share({G5: 3, P5: 1}, RESERVE)}, jobs)
    assert one(scenario, "queue", utilization=">= 64%").measured == 64
    assert one(scenario, "queue", utilization=">= 64%").held
    assert one(scenario, "queue", utilization="> 64%").because == "ml.p5.48xlarge 20%, ml.g5.xlarge 75%"
    assert one(scenario, "a", utilization=">= 90%").because == "ml.p5.48xlarge 20%, ml.g5.xlarge 100%"


@pytest.mark.parametrize(
    ("bound", "because", "hour"),
    [
        (">= 90%", "ml.g5.xlarge 57%; least in the hour from 01:00:00: 0.1 instances in use", 1),
        ("<= 10%", "ml.g5.xlarge 57%; most in the hour from 00:00:00: 4.0 instances in use", 0),
    ],
)
def test_utilization_names_the_hour_that_is_most_to_blame(bound: str, because: str, hour: int):
    jobs = [Row("first", "a", 0, {G5: 4}, HOUR), Row("second", "a", HOUR + 3500, {G5: 4}, 1000)]
    scenario = make_scenario({G5: 4}, {"a": share({G5: 4}, RESERVE)}, jobs)
    verdict = one(scenario, "queue", utilization=bound)
    assert (verdict.because, verdict.at) == (because, hour * HOUR * 1000)


def test_the_rate_of_preemptions_names_the_job_that_was_stopped_most_often():
    verdict = one(preempting(), "queue", preemption_rate="<= 10%")
    assert verdict.measured == pytest.approx(100 / 3)
    assert verdict.because == "1 job stopped; most often big, 2 times, first at 01:00:00"
    assert (verdict.job, verdict.at) == ("big", HOUR * 1000)
    assert one(preempting(), "prod", preemption_rate="<= 0%").held


def priced(**per_hour: float) -> Prices:
    return Prices("USD", "us-east-1", date(2026, 11, 30), per_hour)


def valued(scenario: object, target: str, prices: Prices | None, **bounds: object) -> Verdict:
    topology = scenario.topology.model_copy(update={"expectations": {target: Expectations(**bounds)}})
    (verdict,) = assess(replay(topology, scenario.trace, use_compiled=False), prices=prices).verdicts
    return verdict


def test_a_cost_names_the_costliest_job():
    verdict = valued(preempting(), "queue", priced(**{G5: 2.0}), cost=100)
    assert verdict.measured == pytest.approx(2 * (4 * (1 + 24 + 30) + 2 * 2 + 4 * 2 * 120 / HOUR), rel=1e-3)
    assert verdict.because.startswith("the costliest: big, 440.")
    assert (verdict.job, verdict.because.endswith(" USD in 3 attempts")) == ("big", True)


def test_a_wasted_cost_names_the_largest_loss():
    verdict = valued(preempting(), "batch", priced(**{G5: 2.0}), wasted_cost=100)
    assert verdict.measured == pytest.approx(2 * 4 * 25, rel=1e-2)
    assert verdict.because.startswith("the largest loss, 95.9 instance-hours: big at 1d 02:00:00")


def test_costs_per_day_are_over_the_days_of_the_replay():
    daily = valued(preempting(), "batch", priced(**{G5: 2.0}), cost_per_day=0)
    total = valued(preempting(), "batch", priced(**{G5: 2.0}), cost=0)
    assert daily.measured == pytest.approx(total.measured / ((27 + 30) / 24), rel=1e-2)


@pytest.mark.parametrize(
    ("prices", "because"),
    [(None, "no prices are given"), (priced(**{P5: 1.0}), "there is no price of ml.g5.xlarge")],
)
def test_a_cost_without_a_price_is_not_met(prices: Prices | None, because: str):
    verdict = valued(preempting(), "queue", prices, cost=10**9)
    assert (verdict.broken, verdict.because) == (True, because)


def against(bounds: dict[str, object], baseline: object | None, target: str = "a") -> Verdict:
    """A queue in which jobs wait 0 to 90 s, judged against another one."""
    scenario = queueing()
    topology = scenario.topology.model_copy(update={"expectations": {target: Expectations(**bounds)}})
    other = None if baseline is None else replay(baseline.topology, baseline.trace, use_compiled=False)
    (verdict,) = assess(replay(topology, scenario.trace, use_compiled=False), baseline=other).verdicts
    return verdict


def test_a_bound_that_is_relative_is_judged_by_the_baseline():
    held = against({"wait_max": "<= baseline * 1.5"}, queueing(7))
    assert (held.held, held.measured, held.baseline) == (True, 90_000, 60_000)
    broken = against({"wait_max": "<= baseline + 20s"}, queueing(7))
    assert (broken.broken, broken.because) == (True, "1 of 10 jobs waited longer; j9 waited 1m30s")


def test_without_a_baseline_a_relative_bound_is_not_judged_and_breaks_nothing():
    verdict = against({"wait_max": "<= baseline"}, None)
    assert (verdict.judged, verdict.held, verdict.broken) == (False, False, False)
    assert verdict.because == "no baseline is given"


def test_what_the_baseline_does_not_have_is_not_judged():
    jobs = [Row("j", "b", 0, {G5: 1}, 10)]
    without = make_scenario({G5: 1}, {"b": share({G5: 1}, RESERVE)}, jobs)
    assert against({"wait_max": "<= baseline"}, without).because == "the baseline has no a"
    idle = make_scenario({G5: 2}, {"a": share({G5: 1}, RESERVE), "b": share({G5: 1}, RESERVE)}, jobs)
    assert against({"wait_max": "<= baseline"}, idle).because == "in the baseline, there is nothing to measure"
    assert against({"cost": "<= baseline"}, queueing()).because == "in the baseline, no prices are given"


def test_jobs_that_wait_without_end_are_no_worse_than_in_a_baseline_where_they_do_too():
    jobs = [Row("huge", "a", 0, {G5: 2}, 10)]
    starving = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, jobs)
    topology = starving.topology.model_copy(update={"expectations": {"a": Expectations(wait_max="<= baseline")}})
    outcome = replay(topology, starving.trace, use_compiled=False)
    (verdict,) = assess(outcome, baseline=outcome).verdicts
    assert (verdict.measured, verdict.held) == (inf, True)


def test_goodput_without_lost_work_blames_the_rest():
    scenario = queueing(1, assumptions={"startup_seconds": 10})
    verdict = one(scenario, "a", goodput=">= 60%")
    assert verdict.measured == 50
    assert verdict.because == "no work was lost; what is missing went into starting, resuming and stopping"


def test_a_job_that_never_ran_is_named_with_its_reason():
    jobs = [Row("huge", "a", 5, {G5: 2}, 10)]
    verdict = one(make_scenario({G5: 2}, {"a": share({G5: 1}, RESERVE)}, jobs), "a", never_ran=0)
    assert verdict.because == (
        "the first: huge: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - "
        "Job requirements exceed quota share capacity limits."
    )


def test_a_job_that_could_still_run_has_not_never_run():
    assert one(queueing(until=25_000), "a", never_ran=0).held
    jobs = [Row("runs", "a", 0, {G5: 1}, 60), Row("huge", "b", 5, {G5: 2}, 10), Row("behind", "b", 6, {G5: 1}, 10)]
    scenario = make_scenario({G5: 2}, {"a": share({G5: 1}, RESERVE), "b": share({G5: 1}, RESERVE)}, jobs, until=9_000)
    assert one(scenario, "queue", never_ran=0).measured == 1


def test_what_cannot_be_measured_is_not_met():
    waits, goodput = judged(queueing(), "b", wait_p95="1h", goodput=">= 1%")
    assert isnan(waits.measured)
    assert isnan(goodput.measured)
    assert (waits.held, waits.because, goodput.held) == (False, "there is nothing to measure", False)
    assert one(queueing(), "b", preemptions=0).held


def test_a_team_is_judged_by_all_its_shares():
    assert one(preempting(), next(iter(preempting().topology.teams)), preemptions=1).measured == 2


def test_an_assessment_is_broken_if_any_expectation_is():
    def broken(**bounds: object) -> bool:
        scenario = queueing()
        topology = scenario.topology.model_copy(update={"expectations": {"a": Expectations(**bounds)}})
        outcome: Outcome = replay(topology, scenario.trace, use_compiled=False)
        return assess(outcome).broken

    assert not broken()
    assert not broken(wait_max="2m", preemptions=0)
    assert broken(wait_max="2m", preemptions=0, wait_p50="1s")
