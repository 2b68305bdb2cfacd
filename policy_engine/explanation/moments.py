"""The replay's own state at single decisions: it is driven to the instant, then change by change, and looked at.

A pass is a sequence of changes (scheduling model, section 4), and a decision depends on those before it in its own
instant, and on what claims had set aside by then. The kernel stops after any number of changes, so both can be read.
"""

from collections.abc import Iterable, Iterator, MutableSequence
from copy import copy
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import numpy as np

from policy_engine.scheduler import loop
from policy_engine.scheduler.outcome import Outcome
from policy_engine.scheduler.preparation import number, prepare
from policy_engine.scheduler.replay import COMPILE_FROM
from policy_engine.scheduler.state import State
from policy_engine.scheduler.storage import make_room, to_lists

_CHANGES_AT_ONCE = 500_000

Row = TypeVar("Row")


@dataclass(frozen=True, eq=False, slots=True)
class Decision:
    """A change that the scheduler made, with the state that it was made from.

    `state` is as the scheduler saw it, with what claims had set aside in that try of the pass, for the functions of
    `policy_engine.scheduler.quantities`. Its `cells`, `units` and `shares` are copies; its jobs, logs and queues are
    not: they have gone on. After a cross-share preemption the units' `covered` is what was short.
    """

    at: int
    """ms."""
    dispatches: range
    """Rows of the attempts that it began."""
    preemptions: range
    """Rows of the preemptions that it made."""
    state: State
    units: tuple[str, ...]
    """What the state's units are called."""


def decisions(
    outcome: Outcome, *, dispatches: Iterable[int] = (), preemptions: Iterable[int] = ()
) -> Iterator[Decision]:
    """The decisions that made these rows of the outcome's attempts and preemptions, in order of time, each once.

    The trace is replayed once more up to the last of them.
    """
    attempts, made = set(dispatches), set(preemptions)
    instants = {int(outcome.attempts.scheduled_at[row]) for row in attempts}
    instants |= {int(outcome.preemptions.at[row]) for row in made}
    stepper = _Stepper(outcome)
    for instant in sorted(instants):
        stepper.run(instant - 1)
        for decision in stepper.changes(instant):
            if attempts.intersection(decision.dispatches) or made.intersection(decision.preemptions):
                yield decision


class _Stepper:
    """A replay that can be stopped between any two changes."""

    def __init__(self, outcome: Outcome) -> None:
        state = prepare(outcome.topology, outcome.trace, outcome.events, outcome.assumptions)
        self._units = number(outcome.topology, outcome.trace, outcome.events).units
        if len(outcome.trace) >= COMPILE_FROM:
            from policy_engine.scheduler.machine_code import kernel

            self._kernel, self._state = kernel(), state
        else:
            self._kernel, self._state = loop.run, to_lists(state)

    def run(self, until: int) -> None:
        """On to the end of an instant."""
        while (result := self._kernel(self._state, until, _CHANGES_AT_ONCE)) != loop.OVER:
            if result == loop.FULL:
                self._state = make_room(self._state)

    def changes(self, instant: int) -> Iterator[Decision]:
        """Each change that begins or stops an attempt, up to the end of an instant."""
        while True:
            register = self._state.register[0]
            attempts, preemptions = int(register.attempts), int(register.preemptions)
            before = replace(
                self._state,
                cells=_copied(self._state.cells),
                units=_copied(self._state.units),
                shares=_copied(self._state.shares),
            )
            result = self._kernel(self._state, instant, 1)
            if result == loop.FULL:
                self._state = make_room(self._state)
            register = self._state.register[0]
            begun, stopped = range(attempts, int(register.attempts)), range(preemptions, int(register.preemptions))
            if begun or stopped:
                for unit, after in zip(before.units, self._state.units, strict=True):
                    unit.hold, unit.hold_now, unit.covered, unit.gone = after.hold, after.hold_now, after.covered, 0
                yield Decision(instant, begun, stopped, before, self._units)
            if result == loop.OVER:
                return


def _copied(table: MutableSequence[Row]) -> MutableSequence[Row]:
    """A copy of a table whose rows can be written without changing the table's."""
    if isinstance(table, np.ndarray):
        return cast("MutableSequence[Row]", table.copy())
    return [copy(row) for row in table]
