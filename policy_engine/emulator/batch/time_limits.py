"""RUNNABLE time-limit actions of a job queue."""

from collections.abc import Sequence
from typing import TypedDict

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.validation import check_range
from policy_engine.topology import TimeLimit
from policy_engine.topology.service_limits import MAX_TIME_LIMIT_SECONDS, MIN_TIME_LIMIT_SECONDS, TIME_LIMIT_REASONS


class TimeLimitAction(TypedDict):
    """JobStateTimeLimitAction of the API."""

    reason: str
    state: str
    maxTimeSeconds: int
    action: str


def check_time_limits(actions: Sequence[TimeLimitAction]) -> tuple[tuple[TimeLimitAction, ...], tuple[TimeLimit, ...]]:
    """Check actions, and give them as the scheduler takes them too. Raises ClientException."""
    for index, action in enumerate(actions):
        place = f"jobStateTimeLimitActions[{index}]"
        if action["reason"] not in TIME_LIMIT_REASONS:
            raise ClientException(f"{place}.reason must be one of {' | '.join(TIME_LIMIT_REASONS)}")
        if action["action"] != "TERMINATE":
            raise ClientException(f"{place}.action must be TERMINATE for a queue of the type SAGEMAKER_TRAINING")
        check_range(f"{place}.maxTimeSeconds", action["maxTimeSeconds"], MIN_TIME_LIMIT_SECONDS, MAX_TIME_LIMIT_SECONDS)
    reasons = [action["reason"] for action in actions]
    if len(set(reasons)) < len(reasons):
        raise ClientException("jobStateTimeLimitActions has a reason twice")
    return tuple(actions), tuple(TimeLimit(reason=each["reason"], after=each["maxTimeSeconds"]) for each in actions)
