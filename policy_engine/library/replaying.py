"""Replaying a trace on a topology, and what that shows as data frames."""

import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property

import polars as pl

from policy_engine.amounts import SECOND, counted
from policy_engine.assessment import Assessment, assess
from policy_engine.assumptions import Assumptions
from policy_engine.diagnostics import InputError, Severity, described
from policy_engine.durations import parse_milliseconds
from policy_engine.forecast import Variant, replay_variant
from policy_engine.forecast.variants import left_out
from policy_engine.library import columns as c
from policy_engine.library import frames
from policy_engine.pricing import Prices
from policy_engine.report import preemption_texts
from policy_engine.report.outcome_json import outcome_json
from policy_engine.rules import check
from policy_engine.rules.template_checking import OF_TOPOLOGIES_ONLY
from policy_engine.scheduler import Outcome
from policy_engine.scheduler.replay import compilation_pending
from policy_engine.topology import Topology
from policy_engine.trace import ControlEvent, JobTrace, check_events, check_shares

_LOG = logging.getLogger("policy_engine")
_HOUR = 3600.0


@dataclass(frozen=True, eq=False)
class Replay:
    """What a replay shows, as polars data frames. Each is made when it is first asked for.

    Their columns and units are in the guide, and in `policy_engine.library.columns`. Times are seconds from the trace's
    start; `dated` makes dates of them. `print(replay)` prints the report of `batch-quota replay`.
    """

    variant: Variant
    """What was replayed: the topology, its label, and the assumptions."""
    assessment: Assessment
    """All that was concluded, with the `Outcome` as columns of milliseconds."""
    left_out: Mapping[str, int]
    """Jobs of the trace that were not submitted, since the topology lacks their share: how many, by share."""

    @property
    def outcome(self) -> Outcome:
        """Jobs, attempts and preemptions as numpy arrays, in whole milliseconds."""
        return self.assessment.outcome

    @property
    def label(self) -> str:
        """What reports call it."""
        return self.variant.label

    @property
    def passed(self) -> bool:
        """Whether no expectation of the topology is broken. One that is relative to no baseline is not judged."""
        return not self.assessment.broken

    @cached_property
    def jobs(self) -> pl.DataFrame:
        """One row a job, in order of submission."""
        return frames.jobs_frame(self.outcome)

    @cached_property
    def attempts(self) -> pl.DataFrame:
        """One row an attempt, in order of dispatch."""
        return frames.attempts_frame(self.outcome)

    @cached_property
    def preemptions(self) -> pl.DataFrame:
        """One row a preemption, in order of decision. `reasons` says why."""
        return frames.preemptions_frame(self.outcome)

    @cached_property
    def usage(self) -> pl.DataFrame:
        """Who used, borrowed, lent and waited for how many instances, exactly: a row for each change."""
        return frames.usage_frame(self.outcome)

    def usage_every(self, seconds: float = _HOUR) -> pl.DataFrame:
        """The same in intervals from the first submission on, with means and peaks: few enough rows to plot.

        :raises ValueError: If an interval is shorter than a millisecond.
        """
        interval = round(seconds * SECOND)
        if interval < 1:
            raise ValueError(f"expected an interval of a millisecond at least, not {seconds} s")
        return frames.usage_every_frame(self.outcome, interval)

    @cached_property
    def shares(self) -> pl.DataFrame:
        """One row a share: jobs, waits, preemptions, hours, utilization, goodput."""
        return frames.figures_frame(self.assessment.summary.shares, c.SHARES)

    @cached_property
    def teams(self) -> pl.DataFrame:
        """One row a team."""
        return frames.figures_frame(self.assessment.summary.teams, c.TEAMS)

    @cached_property
    def queue(self) -> pl.DataFrame:
        """One row for the whole queue."""
        return frames.figures_frame(self.assessment.summary.queue, c.QUEUE)

    @cached_property
    def costs(self) -> pl.DataFrame:
        """Instance-hours, GPU-hours and money: one row a share and kind of hours."""
        return frames.costs_frame(self.assessment.costs)

    @cached_property
    def expectations(self) -> pl.DataFrame:
        """One row a bound of the topology's expectations: what was measured, whether it holds, and what broke it."""
        return frames.expectations_frame(self.assessment)

    def reasons(self, preemptions: Iterable[int]) -> dict[int, str]:
        """Why each of these preemptions (rows of `preemptions`) happened, a paragraph each."""
        return preemption_texts(self.outcome, preemptions)

    def dated(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A data frame with dates (UTC, to the millisecond) in its columns `at` and `…_at`, for seconds.

        :raises ValueError: If it is not known when the trace starts: neither has it dates, nor was `starts_at` given.
        """
        epoch = self.outcome.trace.epoch
        if epoch is None:
            raise ValueError("the trace has no dates; say when it starts by replay(…, starts_at=…)")
        times = [name for name in frame.columns if name == "at" or name.endswith("_at")]
        milliseconds = (pl.col(times) * SECOND).round().cast(pl.Int64) + epoch
        return frame.with_columns(milliseconds.cast(pl.Datetime("ms", "UTC")))

    def document(self, *, usage: bool = False) -> dict[str, object]:
        """What `batch-quota replay --format json` prints, as Python data. `usage` adds who used what over time."""
        document: dict[str, object] = json.loads("".join(outcome_json(self.assessment, usage=usage)))
        return document

    def __str__(self) -> str:
        """The report of `batch-quota replay`."""
        from policy_engine.report.replay_text import replay_text

        return replay_text(self.assessment, preemptions=10, color=False)

    def __repr__(self) -> str:
        jobs, stops = counted(len(self.outcome.trace), "job"), counted(len(self.outcome.preemptions.at), "preemption")
        return f"<Replay of {jobs} on {self.label}: {stops}>"


def replay(
    topology: Topology,
    trace: JobTrace,
    *,
    label: str | None = None,
    events: Sequence[ControlEvent] = (),
    assumptions: Assumptions | Mapping[str, object] | None = None,
    moved: Mapping[str, str] | None = None,
    leave_out_unknown_shares: bool = False,
    prices: Prices | None = None,
    baseline: Replay | None = None,
    starts_at: datetime | None = None,
    until: float | str | timedelta | None = None,
) -> Replay:
    """Replay a trace on a topology through the scheduling model.

    The first replay of 3,000 jobs or more on a machine compiles the model, which takes a minute or so.

    :param label: What reports call it; the topology's name if left out.
    :param events: Control events, as `read_events` reads them.
    :param assumptions: What is assumed of what AWS does not publish; or departures from what the topology assumes, such
        as `{"victim_order": "oldest", "stop_seconds": 30}`. The topology's own if left out.
    :param moved: Shares of the trace that the topology lacks, and the share that their jobs are submitted to instead.
    :param leave_out_unknown_shares: Leave out jobs of shares that the topology lacks, and events about what is not
        there; otherwise they are errors.
    :param prices: Prices per instance-hour, as `read_prices` reads them. Without them nothing costs anything known.
    :param baseline: The replay that bounds such as `<= baseline * 1.1` are relative to.
    :param starts_at: When the trace starts, if it has no dates: for training plans and `Replay.dated`. One without a
        time zone is UTC.
    :param until: Stop then: seconds from the trace's start, a text such as `2d6h`, or a timedelta.
    :raises InputError: If a rule finds an error in the topology, or a job or event names what is not there.
    :raises ValueError: If an assumption, `until`, `starts_at` or a target of `moved` is impossible.
    """
    _refuse_errors(topology)
    trace = trace if starts_at is None else _dated(trace, starts_at)
    variant = Variant(label or topology.name, topology, _assumed(topology, assumptions), moved or {})
    shares = [owned.name for owned in topology.quota_shares()]
    nowhere = [target for target in variant.moved.values() if target not in shares]
    if nowhere:
        raise ValueError(f"jobs cannot be moved to {described(nowhere[0])}: {topology.name} has {', '.join(shares)}")
    if not leave_out_unknown_shares:
        check_shares(trace, [*shares, *variant.moved])
        check_events(events, trace, topology)
    if compilation_pending(len(trace)) is not None:
        _LOG.warning("compiling the replay for this machine, which takes a minute or so")
    outcome = replay_variant(variant, trace, events=events, until=_milliseconds(until))
    compared = None if baseline is None else baseline.outcome
    return Replay(variant, assess(outcome, prices=prices, baseline=compared), left_out(variant, trace))


def _refuse_errors(topology: Topology) -> None:
    """Names that only deployment needs may be any: a topology that was read from a template has some of its own."""
    errors = [
        finding
        for finding in check(topology)
        if finding.severity is Severity.ERROR and finding.id not in OF_TOPOLOGIES_ONLY
    ]
    if errors:
        raise InputError(errors)


def _assumed(topology: Topology, assumptions: Assumptions | Mapping[str, object] | None) -> Assumptions:
    if isinstance(assumptions, Assumptions):
        return assumptions
    return topology.assumptions.replaced(assumptions) if assumptions else topology.assumptions


def _dated(trace: JobTrace, starts_at: datetime) -> JobTrace:
    if trace.epoch is not None:
        raise ValueError("the trace has dates of its own; starts_at is for one that has none")
    start = starts_at if starts_at.tzinfo is not None else starts_at.replace(tzinfo=UTC)
    return replace(trace, epoch=round(start.timestamp() * SECOND))


def _milliseconds(until: float | str | timedelta | None) -> int | None:
    if until is None:
        return None
    return parse_milliseconds(until.total_seconds() if isinstance(until, timedelta) else until)
