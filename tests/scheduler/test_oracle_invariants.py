"""Random scenarios: much happens in them, the oracle keeps the model's invariants, and a broken one is noticed."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

import numpy as np
import pytest
import scenarios as vocabulary
from hypothesis import HealthCheck, given, settings
from invariants import check_outcome
from oracle import in_columns
from oracle_invariants import InvariantWatcher
from scenario_features import FeatureWatcher, features
from scenarios import Row, Scenario, describe, make_scenario, random_scenario, scenarios, share

from policy_engine.assumptions import (
    HeadOfLine,
    IdleFifo,
    RequeuePosition,
    ShareOrder,
    UnallocatedCapacity,
    VictimOrder,
)
from policy_engine.scheduler.outcome import AttemptOutcome, Outcome, PreemptionKind, Reason
from policy_engine.topology import Topology

T = TypeVar("T")
SEEDS = range(200)
UNIT = "ml.g5.xlarge"


OFTEN = 10
SOMETIMES = 4
SELDOM = 1
LEAST_OCCURRENCES = {
    "CROSS_SHARE": 40,
    "IN_SHARE": 60,
    "CROSS_SHARE of several": SELDOM,
    "IN_SHARE of several": OFTEN,
    "CROSS_SHARE of a SCHEDULED job": SELDOM,
    "IN_SHARE of a SCHEDULED job": OFTEN,
    "IN_SHARE for several units": OFTEN,
    "a claim waits": 60,
    "several claims wait": SOMETIMES,
    "a RESERVE claim waits": SELDOM,
    "an in-share claim waits": 40,
    "an in-share claim is met by borrowing": OFTEN,
    "an in-share claim is superseded": SELDOM,
    "dispatch by borrowing": 100,
    "dispatch of several units": 50,
    "dispatch past capacity that is set aside": SOMETIMES,
    "backfill": OFTEN,
    "a job is held back, none": SOMETIMES,
    "a job is held back, per_unit": SOMETIMES,
    "several lanes in a share": OFTEN,
    "capacity is exceeded": SOMETIMES,
    "several rounds in one instant": 50,
    "a victim was dispatched in the same instant": SELDOM,
    "a victim had progress from an earlier attempt": SELDOM,
    "attempt NO_CAPACITY": OFTEN,
    "attempt TERMINATED": SELDOM,
    "misconfigured to the end": OFTEN,
    **{f"misconfigured: {reason.name}": SOMETIMES for reason in Reason if 1 <= reason <= 4},
    **{
        f"failed: {reason.name}": SOMETIMES
        for reason in Reason
        if reason.name in ("JOB_FAILED", "ATTEMPT_TIMED_OUT", "TERMINATED", "PREEMPTION_RETRIES_EXHAUSTED")
        or reason.name.startswith(("SHARE_DISABLED", "TIME_LIMIT"))
    },
    **{
        f"event {name}": OFTEN
        for name in (
            "update_priority",
            "update_share",
            "set_share_state",
            "update_capacity",
            "terminate",
            "unavailable",
        )
    },
}


class FeaturesAndInvariants(FeatureWatcher, InvariantWatcher):
    """Collects what happens, and asserts the invariants on the way."""


def replayed_and_checked(scenario: Scenario) -> tuple[set[str], Outcome]:
    """What happens in a scenario, and the oracle's outcome. All invariants are asserted on the way and on it."""
    try:
        found, outcome = features(scenario, FeaturesAndInvariants())
        columns = in_columns(scenario.topology, scenario.trace, scenario.events, outcome)
        check_outcome(columns)
    except AssertionError as broken:
        raise AssertionError(f"{broken}\n{describe(scenario)}") from broken
    return found, columns


def test_seeded_scenarios_are_rich_and_keep_the_invariants():
    found: Counter[str] = Counter()
    for seed in SEEDS:
        found.update(replayed_and_checked(random_scenario(seed))[0])

    poor = {name: (found[name], least) for name, least in LEAST_OCCURRENCES.items() if found[name] < least}
    assert poor == {}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(scenarios())
def test_drawn_scenarios_keep_the_invariants(scenario: Scenario):
    _, outcome = replayed_and_checked(scenario)

    assert len(outcome.jobs.status) == len(scenario.trace)


def test_a_seed_always_gives_the_same_scenario_and_its_description_builds_it():
    for seed in range(50):
        text = describe(random_scenario(seed))
        rebuilt = eval(text, dict(vars(vocabulary)))  # noqa: S307
        again = random_scenario(seed)

        assert text == describe(again) == describe(rebuilt)
        assert rebuilt.topology == again.topology
        assert (rebuilt.events, rebuilt.until) == (again.events, again.until)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("victim_order", VictimOrder),
        ("head_of_line", HeadOfLine),
        ("share_order", ShareOrder),
        ("idle_fifo", IdleFifo),
        ("requeue_position", RequeuePosition),
        ("unallocated_capacity", UnallocatedCapacity),
    ],
)
def test_every_value_of_a_switch_is_drawn(name: str, values: type[StrEnum]):
    drawn = {getattr(random_scenario(seed).topology.assumptions, name) for seed in SEEDS}

    assert drawn == set(values)


def preempting() -> Outcome:
    """Two preemptions of either kind, with all that the checks look at."""
    scenario = make_scenario(
        {UNIT: 4},
        {
            "a": share({UNIT: 1}, in_share_preemption=True),
            "b": share({UNIT: 2}, "LEND"),
            "r": share({UNIT: 1}, "RESERVE"),
        },
        [
            Row("own", "a", 0, {UNIT: 1}, 300, checkpoint=7),
            Row("borrows", "a", 0, {UNIT: 1}, 900, priority=1, checkpoint="on_stop"),
            Row("higher", "a", 100, {UNIT: 2}, 300, priority=5),
            Row("owner", "b", 500, {UNIT: 2}, 200),
        ],
        assumptions={"startup_seconds": 2, "stop_seconds": 10, "resume_seconds": 3},
    )
    return replayed_and_checked(scenario)[1]


def changed(array: np.ndarray[tuple[int], np.dtype[np.signedinteger]], row: int, value: int) -> np.ndarray:
    array = array.copy()
    array[row] = value
    return array


def with_capacity(outcome: Outcome, capacity: int) -> Topology:
    return outcome.topology.model_copy(update={"written_capacity": {UNIT: capacity}})


def with_share(outcome: Outcome, **changes: object) -> Topology:
    team = outcome.topology.teams["team"]
    shares = team.shares | {"a": team.shares["a"].model_copy(update=changes)}
    return outcome.topology.model_copy(update={"teams": {"team": team.model_copy(update={"shares": shares})}})


def jobs(outcome: Outcome, /, **columns: Callable[[np.ndarray], np.ndarray]) -> Outcome:
    return replace(outcome, jobs=_with(outcome.jobs, columns))


def made_attempts(outcome: Outcome, /, **columns: Callable[[np.ndarray], np.ndarray]) -> Outcome:
    return replace(outcome, attempts=_with(outcome.attempts, columns))


def made_preemptions(outcome: Outcome, /, **columns: Callable[[np.ndarray], np.ndarray]) -> Outcome:
    return replace(outcome, preemptions=_with(outcome.preemptions, columns))


def traced(outcome: Outcome, /, **columns: Callable[[np.ndarray], np.ndarray]) -> Outcome:
    return replace(outcome, trace=_with(outcome.trace, columns))


def _with(table: T, columns: dict[str, Callable[[np.ndarray], np.ndarray]]) -> T:
    return replace(table, **{name: change(getattr(table, name)) for name, change in columns.items()})  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda o: replace(o, topology=with_capacity(o, 1)), "invariant 1"),
        (lambda o: replace(o, topology=with_share(o, borrow_limit=0)), "invariant 2"),
        (lambda o: replace(o, topology=with_share(o, capacity={UNIT: 2})), "invariant 5: a victim of a share"),
        (lambda o: replace(o, topology=with_share(o, in_share_preemption=False)), "invariant 5: a has no in-share"),
        (lambda o: traced(o, priority=np.zeros_like), "invariant 5: an in-share victim"),
        (lambda o: made_preemptions(o, kind=lambda kind: 1 - kind), "invariant 5: the kind"),
        (
            lambda o: made_preemptions(o, claimant=lambda job: changed(job, 0, 3)),
            "invariant 4: a claimant not submitted",
        ),
        (lambda o: made_preemptions(o, claimant=lambda job: changed(job, -1, 2)), "invariant 4: a claimant that has"),
        (lambda o: made_preemptions(o, claimant=lambda job: changed(job, -1, 1)), "invariant 4: a claimant that is"),
        (lambda o: made_preemptions(o, at=lambda at: changed(at, 0, at[0] + 1)), "invariant 4"),
        (lambda o: made_preemptions(o, lost=lambda lost: changed(lost, 0, lost[0] + 1)), "jobs: lost"),
        (lambda o: traced(o, checkpoint=lambda every: changed(every, 0, 8000)), "invariant 7: lost work"),
        (lambda o: traced(o, runtime=lambda ms: ms + 1), "invariant 7: productive time"),
        (lambda o: made_attempts(o, running_at=lambda at: changed(at, 0, at[0] + 1)), "attempts: start-up"),
        (lambda o: made_attempts(o, scheduled_at=lambda at: changed(at, 0, at[0] - 1)), "attempts: before submission"),
        (
            lambda o: made_attempts(o, stopped_at=lambda at: changed(at, 1, at[1] + 1)),
            "invariant 4: a victim that does",
        ),
        (lambda o: made_attempts(o, outcome=lambda all_: changed(all_, 0, AttemptOutcome.RUNNING)), "attempts: open"),
        (lambda o: jobs(o, preemptions=lambda count: changed(count, 0, 7)), "jobs: preemptions"),
        (lambda o: jobs(o, first_scheduled_at=lambda at: changed(at, 0, 7)), "jobs: first_scheduled_at"),
        (lambda o: jobs(o, finished_at=lambda at: changed(at, 0, -1)), "jobs: ended"),
        (lambda o: jobs(o, status=lambda status: changed(status, 0, 2)), "jobs: "),
        (lambda o: traced(o, preemption_retries=np.zeros_like), "jobs: "),
    ],
)
def test_an_outcome_that_breaks_an_invariant_is_noticed(broken: Callable[[Outcome], Outcome], message: str):
    outcome = preempting()
    assert set(outcome.preemptions.kind) == set(PreemptionKind)

    with pytest.raises(AssertionError, match=message):
        check_outcome(broken(outcome))
