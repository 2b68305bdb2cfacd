"""Jobs that a replay leaves running when the instances of a training plan are taken back."""

from collections.abc import Iterator

import numpy as np

from policy_engine.amounts import counted
from policy_engine.scheduler import Outcome
from policy_engine.scheduler.state import NEVER
from policy_engine.trace import training_plan_events


def left_running(outcome: Outcome) -> Iterator[str]:
    """A sentence for each time at which a plan takes back instances that jobs hold.

    SageMaker ends those jobs. The replay does not: which of the type's jobs run on the plan's instances is known to
    the jobs alone.
    """
    attempts, trace = outcome.attempts, outcome.trace
    for update in training_plan_events(outcome.topology, trace.epoch):
        if update.unit not in trace.units or not 0 < update.at <= outcome.ended_at:
            continue
        running = (attempts.scheduled_at < update.at) & (
            (attempts.stopped_at == NEVER) | (attempts.stopped_at > update.at)
        )
        holding = trace.needs[trace.need[attempts.job[running]], trace.units.index(update.unit)]
        held, jobs = int(holding.sum()), int((holding > 0).sum())
        if held > update.capacity:
            yield (
                f"{_date(trace.epoch, update.at)}: {counted(jobs, 'job')} {'holds' if jobs == 1 else 'hold'} {held} "
                f"{update.unit}, and {update.capacity} are left: SageMaker ends jobs that lose their instances, "
                "the replay does not"
            )


def _date(epoch: int | None, at: int) -> str:
    return f"{np.datetime64((epoch or 0) + at, 'ms').astype('datetime64[s]')}Z"
