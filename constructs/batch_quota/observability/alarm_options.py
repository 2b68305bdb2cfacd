"""At which thresholds a queue's alarms ring, by level."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from aws_cdk import Duration
from aws_cdk import aws_sns as sns

from batch_quota.validation import is_token, name_problems, whole_number_problems
from policy_engine.topology.suggestions import did_you_mean

_HOUR = 3600


class AlarmLevel(StrEnum):
    """Names of levels. They are part of alarms' names, and say which topic an alarm goes to."""

    WARNING = "warning"
    """To look into within a working day."""
    CRITICAL = "critical"
    """Somebody should be woken for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AlarmOptions:
    """Thresholds of a queue's alarms, by level: an AlarmLevel, or a name of your own.

    An alarm is made for each level of each mapping, so an empty mapping makes none.
    """

    preempted_percent: Mapping[str, float] = field(
        default_factory=lambda: {AlarmLevel.WARNING: 25, AlarmLevel.CRITICAL: 50}
    )
    """Of the jobs dispatched within an hour, the percentage preempted within it."""

    preempted_at_least: int = 10
    """Fewer preempted jobs in the hour are no alarm, whatever their percentage."""

    blocked_events: Mapping[str, float] = field(default_factory=lambda: {AlarmLevel.WARNING: 1})
    """How often AWS Batch said within 5 minutes that a job blocks the queue. Needs the rule `queue_blocked`."""

    runnable_to_scheduled: Mapping[str, Duration] | None = None
    """Mean time from RUNNABLE to SCHEDULED of the jobs dispatched within an hour; 2 and 8 hours if left out."""

    front_job_age: Mapping[str, Duration] | None = None
    """For how long a job has been at the front of its share; 8 and 24 hours if left out. Needs the share metrics."""

    topics: Mapping[str, sns.ITopic] = field(default_factory=dict)
    """Topics of the levels that go to another than the common one."""


def duration_problems(options: AlarmOptions) -> Iterator[str]:
    """Thresholds that should be durations, and are none."""
    given = {"runnable_to_scheduled": options.runnable_to_scheduled, "front_job_age": options.front_job_age}
    for name, by_level in given.items():
        for level, threshold in (by_level or {}).items():
            if not isinstance(threshold, Duration):
                yield f"{name}: {level}: expected a Duration, such as Duration.hours(2), not {threshold!r}"


def wait_thresholds(options: AlarmOptions) -> dict[str, dict[str, float]]:
    """The thresholds that are durations, in seconds, by the names of their options and by level."""
    defaults: dict[str, dict[str, float]] = {
        "runnable_to_scheduled": {AlarmLevel.WARNING: 2 * _HOUR, AlarmLevel.CRITICAL: 8 * _HOUR},
        "front_job_age": {AlarmLevel.WARNING: 8 * _HOUR, AlarmLevel.CRITICAL: 24 * _HOUR},
    }
    given = {"runnable_to_scheduled": options.runnable_to_scheduled, "front_job_age": options.front_job_age}
    return {
        name: dict(defaults[name]) if by_level is None else {level: d.to_seconds() for level, d in by_level.items()}
        for name, by_level in given.items()
    }


def option_problems(options: AlarmOptions, waits: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """What is wrong with the options. `waits` are their `wait_thresholds`."""
    thresholds = {
        "preempted_percent": options.preempted_percent,
        "blocked_events": options.blocked_events,
        **waits,
    }
    for name, by_level in thresholds.items():
        for level, threshold in by_level.items():
            yield from name_problems(f"{name}: level", level)
            if not is_token(threshold) and threshold <= 0:
                yield f"{name}: {level}: expected more than 0, not {threshold:g}"
            if name == "preempted_percent" and not is_token(threshold) and threshold > 100:
                yield f"{name}: {level}: expected at most 100, not {threshold:g}"
    yield from whole_number_problems("preempted_at_least", options.preempted_at_least, lowest=1)
    yield from _level_problems(
        options.topics, {AlarmLevel.WARNING, *(level for by_level in thresholds.values() for level in by_level)}
    )


def _level_problems(topics: Iterable[str], levels: set[str]) -> Iterator[str]:
    for level in topics:
        if level not in levels:
            hint = did_you_mean(level, sorted(levels), f"levels are {', '.join(sorted(levels))}")
            yield f"topics: no alarm has the level {level!r}; {hint}"
