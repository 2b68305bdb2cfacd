"""A replay's outcome as people read it."""

import re

import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds
from syrupy.assertion import SnapshotAssertion

from policy_engine.report import assess
from policy_engine.report.replay_text import replay_text
from policy_engine.scheduler import replay
from policy_engine.topology import Expectations, Team, Topology

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
HOUR = 3600


def text_of(scenario: Scenario, *, preemptions: int = 10, color: bool = False, **expectations: Expectations) -> str:
    topology = scenario.topology.model_copy(update={"expectations": expectations})
    outcome = replay(topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)
    return replay_text(assess(outcome), preemptions=preemptions, color=color)


def section(text: str, title: str) -> str:
    """What stands below a title, up to the next blank line that is followed by another title."""
    _, _, rest = text.partition(f"\n{title}")
    return re.split(r"\n\n(?=[A-Z0-9])", rest)[0]


def day_of_two_teams(**options: object) -> Scenario:
    """A borrower that is bigger than its share, its lender, and a team with reserved capacity and bad luck."""
    jobs = [
        Row("big", "vision-batch", 0, {G5: 6}, 20_000),
        *(Row(f"p{hour}", "vision-prod", hour * HOUR, {G5: 4}, 600) for hour in range(1, 5)),
        Row("s0", "speech", 1800, {P5: 3}, 600),
        Row("s1", "speech", 1860, {G5: 2}, 2 * HOUR, retries=0),
        Row("s2", "speech", 5460, {G5: 1}, 600, priority=5),
        Row("s3", "speech", 16260, {G5: 3}, 600, priority=5),
        Row("s4", "speech", 16320, {G5: 1}, 600, priority=5),
        Row("s5", "speech", 16380, {G5: 1}, 600, priority=5),
    ]
    shares = {
        "vision-batch": share({G5: 2}, LEND_AND_BORROW),
        "vision-prod": share({G5: 4}, LEND),
        "speech": share({G5: 2, P5: 2}, RESERVE, in_share_preemption=True),
    }
    limits = {"MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE": 600}
    scenario = make_scenario({G5: 8, P5: 2}, shares, jobs, time_limits=limits, **options)
    teams = {
        "vision": Team(shares={name: shares[name] for name in ("vision-batch", "vision-prod")}),
        "speech": Team(shares={"speech": shares["speech"]}),
    }
    topology = Topology(
        name="two-teams",
        capacity=scenario.topology.capacity,
        queue=scenario.topology.queue,
        teams=teams,
        assumptions=scenario.topology.assumptions,
    )
    return Scenario(topology, scenario.trace, scenario.events, scenario.until)


def test_a_whole_report(snapshot: SnapshotAssertion):
    """Look at the snapshot as a reader would before you accept a change of it."""
    text = text_of(
        day_of_two_teams(assumptions={"startup_seconds": {"default": 60, P5: 300}}),
        preemptions=3,
        **{
            "vision-batch": Expectations(preemptions=0, wait_p95="5m"),
            "speech": Expectations(never_ran=0, wait_max="1h"),
            "queue": Expectations(utilization=">= 90%"),
        },
    )
    assert text == snapshot


@pytest.mark.parametrize("first_seed", seeds(20, among=100, step=20))
def test_no_line_is_wider_than_80_columns(first_seed: int):
    for seed in range(first_seed, first_seed + 20):
        text = text_of(random_scenario(seed), queue=Expectations(wait_p95="1m", goodput="> 99%", never_ran=0))
        assert max(map(len, text.splitlines())) <= 80


def test_names_as_long_as_aws_allows_are_folded_not_cut():
    share_name, unit = "s" * 128, "ml.p4de.24xlarge"
    jobs = [Row("j" * 200, share_name, 0, {unit: 1}, 9), Row("k" * 200, share_name, 1, {unit: 1}, 9, priority=1)]
    scenario = make_scenario({unit: 1}, {share_name: share({unit: 1}, RESERVE, in_share_preemption=True)}, jobs)
    text = text_of(scenario, queue=Expectations(preemptions=0))
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("j") >= 200
    assert text.count("k") >= 200


def test_a_terminal_is_not_told_what_to_do_by_names():
    jobs = [Row("\x1b[2Jjob", "a", 0, {G5: 1}, 9), Row("[bold]k[/]", "a", 1, {G5: 1}, 9, priority=1)]
    text = text_of(make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE, in_share_preemption=True)}, jobs))
    assert "\x1b" not in text
    assert "�[2Jjob" in text
    assert "[bold]k[/]" in text


def test_the_heading_says_what_departs_from_the_defaults():
    assert "All assumptions are the defaults." in text_of(day_of_two_teams())
    text = text_of(day_of_two_teams(assumptions={"stop_seconds": 300, "head_of_line": "per_unit"}))
    assert re.search(r"depart from the defaults:\n  head_of_line  per_unit\n  stop_seconds  5m\n", text)
    assert "`batch-quota assumptions`" in text


def test_the_heading_says_how_jobs_ended_and_how_many_would_come_later():
    assert "At the end 6 SUCCEEDED, 2 FAILED, 3 RUNNABLE.\n" in text_of(day_of_two_teams())
    stopped = " ".join(text_of(day_of_two_teams(until=5_500_000)).split())
    assert "At the end 1 SUCCEEDED, 1 FAILED, 1 RUNNABLE, 2 RUNNING; 6 jobs would come later." in stopped


def test_as_many_preemptions_are_listed_as_asked_for():
    scenario = day_of_two_teams()
    assert "and 4 more preemptions" in text_of(scenario, preemptions=1)
    assert "more preemption" not in text_of(scenario, preemptions=5)
    assert "for job " not in text_of(scenario, preemptions=0)


def test_the_jobs_that_lost_most_are_named_with_the_largest_loss_first():
    lost = section(text_of(day_of_two_teams()), "Jobs that lost most")
    assert re.search(r"^big +vision-batch +SUCCEEDED +4 +20\.4$", lost, re.MULTILINE)
    amounts = [float(amount) for amount in re.findall(r"[A-Z]+ +\d+ +([\d.]+)$", lost, re.MULTILINE)]
    assert amounts == sorted(amounts, reverse=True)
    assert len(amounts) == 2


def test_where_nothing_is_lost_no_job_is_named():
    kept = make_scenario(
        {G5: 1},
        {"a": share({G5: 1}, RESERVE, in_share_preemption=True)},
        [Row("j", "a", 0, {G5: 1}, 900, checkpoint="on_stop"), Row("k", "a", 60, {G5: 1}, 9, priority=1)],
    )
    assert "Preemptions: 1," in text_of(kept)
    assert "Jobs that lost most" not in text_of(kept)


def test_without_preemptions_that_is_said():
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, [Row("j", "a", 0, {G5: 1}, 9)])
    assert section(text_of(scenario), "Preemptions") == "\nnone"


def test_jobs_that_cannot_run_come_with_aws_s_reason():
    troubles = re.sub(r"\s+", " ", section(text_of(day_of_two_teams()), "Jobs that FAILED, or never ran"))
    assert "s3: RUNNABLE without having run MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job req" in troubles
    assert "s1: FAILED Simulated: preempted once more than its preemption retries allow." in troubles
    assert "2 jobs of speech, such as s4: RUNNABLE without having run" in troubles


def test_a_livelock_comes_with_its_cycle_its_cause_and_what_would_end_it():
    livelock = re.sub(r"\s+", " ", section(text_of(day_of_two_teams()), "Livelock"))
    assert "big of vision-batch: stopped 4 times in a row without progress, every 1h00m on average" in livelock
    assert "for vision-prod (4); 20.4 instance-hours lost." in livelock
    assert "6 ml.g5.xlarge (limit 2), so it runs only on borrowed capacity" in livelock
    assert "would end it: a limit of 6 ml.g5.xlarge for vision-batch" in livelock


def test_expectations_are_listed_with_what_broke_them():
    bounds = {"vision-batch": Expectations(preemptions=3), "queue": Expectations(wait_p50="1h")}
    text = text_of(day_of_two_teams(), **bounds)
    assert "\n2 expectations: 1 broken\n" in text
    assert "broken  vision-batch  preemptions <= 3" in text
    assert "holds   queue         wait_p50 <= 1h" in text
    assert "vision-batch preemptions: the first: big at 01:00:00, for p1 of vision-prod" in text
    assert "\n1 expectation: all hold\n" in text_of(day_of_two_teams(), queue=Expectations(wait_p50="1h"))


def test_an_expectation_without_its_baseline_is_open_and_says_why():
    text = text_of(day_of_two_teams(), queue=Expectations(wait_p50="<= baseline", preemptions=99))
    assert "\n2 expectations: 1 not judged\n" in text
    assert "open   queue  wait_p50 <= baseline" in text
    assert "queue wait_p50: no baseline is given" in text


def test_teams_are_added_up_where_they_have_several_shares():
    assert "Teams: waits" in text_of(day_of_two_teams())
    single = make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, [Row("j", "a", 0, {G5: 1}, 9)])
    assert "Teams" not in text_of(single)


def test_colour_is_for_terminals_and_changes_no_word():
    bounds = {"vision-batch": Expectations(preemptions=0)}
    plain, colored = (text_of(day_of_two_teams(), color=color, **bounds) for color in (False, True))
    assert "\x1b[" not in plain
    assert "\x1b[31mbroken" in colored.replace("  broken", "broken")
    unstyled = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert [line.rstrip() for line in unstyled.splitlines()] == plain.splitlines()
