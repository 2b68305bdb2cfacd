"""A job's life as people read it, and each preemption's reason in one paragraph."""

import pytest
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.explanation.life import explain_job
from policy_engine.explanation.prevention import find_preventions
from policy_engine.explanation.waits import WaitReason
from policy_engine.report.explanation_text import explanation_text
from policy_engine.report.preemption_text import preemption_texts
from policy_engine.report.wait_text import _IN_BRIEF
from policy_engine.scheduler import Outcome, replay
from policy_engine.trace import Terminate

G5 = "ml.g5.xlarge"


def outcome_of(scenario: Scenario) -> Outcome:
    return replay(scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def text_of(scenario: Scenario, job: str, *, replays: int = 0, color: bool = False) -> str:
    life = explain_job(outcome_of(scenario), scenario.trace.job_id.to_list().index(job))
    return explanation_text(life, find_preventions(life, most_replays=replays) if replays else None, color=color)


def joined(text: str) -> str:
    """The text without its line breaks."""
    return " ".join(text.split())


def reclaimed(**options: object) -> Scenario:
    """B's jobs borrow what A leaves idle, until A's job claims it."""
    return make_scenario(
        {G5: 5},
        {"a": share({G5: 4}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)},
        [
            Row("old", "b", 0, {G5: 1}, 1000, priority=1),
            Row("low", "b", 10, {G5: 2}, 1000),
            Row("young", "b", 20, {G5: 1}, 1000, priority=1),
            Row("claims", "a", 60, {G5: 2}, 600),
        ],
        **options,
    )


def test_a_life_is_told_in_order():
    assert text_of(reclaimed(), "low").splitlines() == [
        "low of b",
        "2 ml.g5.xlarge for 16m40s, priority 0, no checkpoint.",
        "SUCCEEDED 29m30s after its submission: waited 10m00s in all, preempted once,",
        "lost 50s of work (<0.1 instance-hours).",
        "A prediction under assumptions on what AWS does not publish: all defaults.",
        "",
        "00:00:10  SUBMITTED",
        "00:00:10  DISPATCHED on 2 ml.g5.xlarge, borrowed from what lenders left idle (a",
        "          4)",
        "00:01:00  PREEMPTED for claims of a",
        "          That job needs 2 ml.g5.xlarge within its share's limit (0 of 4",
        "          ml.g5.xlarge kept), so its share was owed them; 1 ml.g5.xlarge was",
        "          short. By the assumption victim_order lowest_priority_youngest it was",
        "          number 1 of 3 jobs of shares above their limits that could be stopped:",
        "          priority 0, dispatched 50s before. Instead of it youngest would have",
        "          stopped young; oldest would have stopped old. It lost 50s of work,",
        "          <0.1 instance-hours.",
        "          - 1. low: priority 0, 2 ml.g5.xlarge, dispatched 50s before; stopped",
        "          - 2. young: priority 1, 1 ml.g5.xlarge, dispatched 40s before; not",
        "            needed",
        "          - 3. old: priority 1, 1 ml.g5.xlarge, dispatched 1m00s before; not",
        "            needed",
        "00:03:00  stopped, and its capacity released",
        "00:03:00  RUNNABLE for 10m00s.",
        "          - 10m00s at the front: it needs 2 ml.g5.xlarge, and its share's jobs",
        "            keep 2 of a limit of 1; it would have to borrow 2 more, and 1 can",
        "            be. Idle of shares that lend: a 2; of that 1 lent out (to b 1).",
        "00:13:00  DISPATCHED on 2 ml.g5.xlarge, borrowed from what lenders left idle (a",
        "          4)",
        "00:29:40  SUCCEEDED",
    ]


def test_what_would_have_prevented_it_is_told_with_its_effects():
    text = joined(text_of(reclaimed(), "low", replays=40))
    assert "What would have prevented it" in text
    assert "The preemption: priority 1 instead of 0 is the smallest single change that works." in text
    assert "The limits then exceed the environment's capacity by" in text
    assert "The queue:" in text


def test_that_nothing_was_found_is_told_with_what_was_tried():
    jobs = [Row("runs", "a", 0, {G5: 1}, 1000), Row("waits", "a", 1, {G5: 1}, 10)]
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, LEND)}, jobs)
    text = joined(text_of(scenario, "waits", replays=40))
    assert "no single change was found that works" in text
    assert "One works if at most a tenth of the wait is left" in text


def test_a_bound_on_replays_that_was_met_is_told():
    assert "The bound on replays was reached" in joined(text_of(reclaimed(), "low", replays=1))


def test_a_job_without_trouble_is_told_in_few_lines():
    scenario = make_scenario({G5: 1}, {"a": share({G5: 1}, LEND)}, [Row("runs", "a", 0, {G5: 1}, 1000)])
    text = text_of(scenario, "runs", replays=5)
    assert "never waited, never preempted, lost no work" in joined(text)
    assert "There was nothing to prevent" in text


def test_idle_that_a_job_may_not_touch_is_named_with_why():
    shares = {"kept": share({G5: 3}, RESERVE), "lent": share({G5: 2}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)}
    jobs = [Row("b1", "b", 0, {G5: 2}, 50), Row("b2", "b", 0, {G5: 2}, 50)]
    text = joined(text_of(make_scenario({G5: 6}, shares, jobs), "b2"))
    assert "Idle of shares that lend: lent 2; of that 1 lent out (to b 1)." in text
    assert "Idle that RESERVE protects: kept 3." in text
    borrower = share({G5: 1}, LEND_AND_BORROW, borrow_limit=100)
    text = joined(text_of(make_scenario({G5: 6}, {**shares, "b": borrower}, jobs), "b2"))
    assert "it would borrow 3, and the borrow limit is 1. 1 could be borrowed but for that (idle: lent 2)." in text
    text = joined(text_of(make_scenario({G5: 6}, {**shares, "b": share({G5: 2}, LEND)}, jobs), "b2"))
    assert "Unused by its owners, but not for a share that does not borrow: kept 3, lent 2." in text


def test_who_is_stopping_for_whom_is_told():
    text = joined(text_of(reclaimed(), "claims"))
    assert "what it needs (2 ml.g5.xlarge) was still held by preempted jobs that were stopping for it: low." in text


def test_a_job_that_can_never_run_is_told_in_aws_s_words():
    scenario = make_scenario({G5: 4}, {"a": share({G5: 2}, LEND)}, [Row("big", "a", 0, {G5: 3}, 60)])
    assert "Job requirements exceed quota share capacity limits." in joined(text_of(scenario, "big"))


def test_how_a_job_failed_is_told_once():
    scenario = make_scenario(
        {G5: 1},
        {"a": share({G5: 1}, LEND)},
        [Row("runs", "a", 0, {G5: 1}, 100), Row("waits", "a", 0, {G5: 1}, 100)],
        events=[Terminate(at=50_000, job="waits")],
    )
    text = text_of(scenario, "waits")
    assert "RUNNABLE for 50s, then it FAILED" in text
    assert text.count("terminated by a control event") == 1


def test_a_long_life_is_cut_in_the_middle():
    shares = {"a": share({G5: 2}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)}
    jobs = [Row("b1", "b", 0, {G5: 3}, 500), *(Row(f"a{n}", "a", 100 * n, {G5: 1}, 10) for n in range(1, 41))]
    text = joined(text_of(make_scenario({G5: 3}, shares, jobs, assumptions={"stop_seconds": 0}), "b1"))
    assert "more attempts left out here (--format json has all): preempted" in text
    assert text.endswith("SUCCEEDED")


def test_every_reason_of_a_wait_has_a_short_form():
    assert set(_IN_BRIEF) == set(WaitReason)


@pytest.mark.parametrize("seed", seeds(6, among=60))
def test_any_life_fits_80_columns(seed: int):
    outcome = outcome_of(random_scenario(seed))
    for job in range(len(outcome.trace)):
        text = explanation_text(explain_job(outcome, job), None, color=False)
        assert max(map(len, text.splitlines())) <= 80
        assert not any(line != line.rstrip() for line in text.splitlines())


def test_names_that_would_act_upon_a_terminal_are_made_harmless():
    name = "evil\x1b[31m" + "x" * 300 + "\u202e"
    scenario = make_scenario(
        {G5: 1}, {"a": share({G5: 1}, LEND)}, [Row("runs", "a", 0, {G5: 1}, 99), Row(name, "a", 0, {G5: 1}, 9)]
    )
    text = text_of(scenario, name)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert max(map(len, text.splitlines())) <= 80


def test_color_is_only_there_when_asked_for():
    assert "\x1b" in text_of(reclaimed(), "low", color=True)
    assert "\x1b" not in text_of(reclaimed(), "low")


# One paragraph


def test_a_preemption_s_reason_is_one_paragraph():
    assert preemption_texts(outcome_of(reclaimed()), [0]) == {
        0: "low of b was preempted at 00:01:00 for claims of a. That job needs 2 ml.g5.xlarge within its share's limit "
        "(0 of 4 ml.g5.xlarge kept), so its share was owed them; 1 ml.g5.xlarge was short. By the assumption "
        "victim_order lowest_priority_youngest it was number 1 of 3 jobs of shares above their limits that could be "
        "stopped: priority 0, dispatched 50s before. Instead of it youngest would have stopped young; oldest would "
        "have stopped old. It lost 50s of work, <0.1 instance-hours."
    }


def test_an_in_share_preemption_s_reason_names_the_priority():
    shares = {"a": share({G5: 1}, LEND, in_share_preemption=True)}
    jobs = [Row("low", "a", 0, {G5: 1}, 1000, checkpoint="on_stop"), Row("high", "a", 60, {G5: 1}, 100, priority=5)]
    assert preemption_texts(outcome_of(make_scenario({G5: 1}, shares, jobs)), [0]) == {
        0: "low of a was preempted at 00:01:00 for high of a. In-share preemption: that job has a higher priority and "
        "needs 1 ml.g5.xlarge, which its share could not take beside the jobs it had. By the assumption victim_order "
        "lowest_priority_youngest it was the only one of the jobs of lower priority that could be stopped: priority 0, "
        "dispatched 1m00s before. No work was lost."
    }


def test_who_came_before_a_victim_and_was_not_stopped_is_told():
    shares = {"a": share({G5: 4}, LEND), "b": share({G5: 1}, LEND_AND_BORROW), "c": share({G5: 1}, LEND_AND_BORROW)}
    jobs = [
        Row("b1", "b", 0, {G5: 2}, 1000),
        Row("b2", "b", 0, {G5: 1}, 1000, priority=1),
        Row("c1", "c", 0, {G5: 2}, 1000, priority=2),
        Row("claims", "a", 60, {G5: 4}, 100),
    ]
    outcome = outcome_of(make_scenario({G5: 6}, shares, jobs))
    texts = preemption_texts(outcome, range(len(outcome.preemptions.at)))
    assert "b2 came before it, but the others left that share no longer above its limit." in texts[1]
    assert "Stopped with it: b1." in texts[1]


@pytest.mark.parametrize("seed", seeds(6, among=60))
def test_every_preemption_has_one(seed: int):
    outcome = outcome_of(random_scenario(seed))
    rows = range(len(outcome.preemptions.at))
    texts = preemption_texts(outcome, rows)
    assert list(texts) == list(rows)
    for text in texts.values():
        assert "\n" not in text
        assert str(outcome.assumptions.victim_order) in text
