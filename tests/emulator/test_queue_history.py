"""A queue's history, taken down call by call, shows at every moment what the replay of the whole shows of it."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from scenarios import Scenario, random_scenario, scenarios

from policy_engine.emulator.queue_history import QueueHistory, ShareTerms
from policy_engine.emulator.schedule import Schedule
from policy_engine.emulator.submissions import Submission
from policy_engine.scheduler import replay
from policy_engine.topology import OwnedShare, ShareState, Topology
from policy_engine.trace import ControlEvent, Terminate, UpdateCapacity, UpdatePriority, UpdateShare

START = 1_767_225_600_000


def as_calls_can_make_it(scenario: Scenario) -> Scenario:
    """Without what no call does: shares that take no jobs but have some, changes to jobs that are not there yet."""
    trace = scenario.trace
    submitted = dict(zip(trace.job_id.to_list(), trace.submitted_at.tolist(), strict=True))

    def can_be_called(event: ControlEvent) -> bool:
        match event:
            case UpdatePriority():
                return bool(submitted[event.job] <= event.at)
            case Terminate():
                return bool(submitted[event.job] < event.at)
            case _:
                return isinstance(event, UpdateShare | UpdateCapacity)

    teams = {
        name: team.model_copy(
            update={
                "shares": {
                    share_name: share.model_copy(update={"state": ShareState.ENABLED})
                    for share_name, share in team.shares.items()
                }
            }
        )
        for name, team in scenario.topology.teams.items()
    }
    topology = scenario.topology.model_copy(update={"teams": teams})
    events = sorted(filter(can_be_called, scenario.events), key=lambda event: event.at)
    return Scenario(topology, trace, tuple(events))


class Caller:
    """Takes a scenario down as calls would, and looks at the schedule before each moment."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        topology = scenario.topology
        self._capacity = dict(topology.capacity)
        self._terms = {owned.name: terms_of(owned) for owned in topology.quota_shares()}
        self.history = QueueHistory(
            started_at=START,
            capacity=topology.capacity,
            time_limits=topology.queue.time_limits,
            assumptions=topology.assumptions,
        )
        for name, terms in self._terms.items():
            self.history.set_share(name, terms, START)

    def moments(self) -> Sequence[tuple[int, Schedule]]:
        """Each moment of the scenario, with what was to be seen when it began; then one far behind the last."""
        calls: dict[int, list[Callable[[], None]]] = defaultdict(list)
        for row, at in enumerate(self._scenario.trace.submitted_at.tolist()):
            calls[at].append(lambda row=row: self._submit(row))
        for event in self._scenario.events:
            calls[event.at].append(lambda event=event: self._change(event))
        seen = []
        for at in sorted(calls):
            seen.append((at, self.history.schedule(START + at)))
            for call in calls[at]:
                call()
        last = max(calls, default=0) + 3_600_000
        return [*seen, (last, self.history.schedule(START + last))]

    def _submit(self, row: int) -> None:
        trace = self._scenario.trace
        need = zip(trace.units, trace.needs[trace.need[row]].tolist(), strict=True)
        submission = Submission(
            share=trace.share_names[trace.share[row]],
            at=START + int(trace.submitted_at[row]),
            need={unit: count for unit, count in need if count},
            runtime=int(trace.runtime[row]),
            priority=int(trace.priority[row]),
            preemption_retries=int(trace.preemption_retries[row]),
            checkpoint=int(trace.checkpoint[row]),
            attempt_timeout=int(trace.attempt_timeout[row]),
            fails=bool(trace.fails[row]),
        )
        self.history.submit(trace.job_id[row], submission)

    def _change(self, event: ControlEvent) -> None:
        at = START + event.at
        match event:
            case UpdatePriority():
                self.history.update_priority(event.job, event.priority, at)
            case Terminate():
                self.history.terminate(event.job, at)
            case UpdateCapacity():
                self._capacity[event.unit] = event.capacity
                self.history.set_capacity(self._capacity, at)
            case UpdateShare():
                given = {
                    "limits": event.limits,
                    "strategy": event.strategy,
                    "borrow_limit": event.borrow_limit,
                    "in_share_preemption": event.in_share_preemption,
                }
                changed = {field: value for field, value in given.items() if value is not None}
                self._terms[event.share] = replace(self._terms[event.share], **changed)  # type: ignore[arg-type]
                self.history.set_share(event.share, self._terms[event.share], at)


def terms_of(owned: OwnedShare) -> ShareTerms:
    share = owned.share
    return ShareTerms(
        limits=share.capacity,
        strategy=share.strategy,
        borrow_limit=-1 if share.borrow_limit is None else share.borrow_limit,
        in_share_preemption=share.in_share_preemption,
    )


def differences(scenario: Scenario) -> list[int]:
    """The moments at which something else was to be seen than the replay of the whole shows of them."""
    topology: Topology = scenario.topology
    different = []
    for at, seen in Caller(scenario).moments():
        outcome = replay(topology, scenario.trace, events=scenario.events, until=at - 1)
        whole = Schedule(outcome, START)
        jobs = seen.outcome.trace.job_id.to_list()
        if [seen.job(job) for job in jobs] != [whole.job(job) for job in jobs]:
            different.append(at)
    return different


@given(scenarios())
@settings(deadline=None, max_examples=12)
def test_what_is_seen_at_any_moment_is_never_changed_by_what_comes_later(scenario: Scenario) -> None:
    assert differences(as_calls_can_make_it(scenario)) == []


@pytest.mark.slow
def test_what_is_seen_is_never_changed_in_many_scenarios() -> None:
    different = {
        seed: found for seed in range(300) if (found := differences(as_calls_can_make_it(random_scenario(seed))))
    }
    assert different == {}
