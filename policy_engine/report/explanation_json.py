"""A job's life as JSON for programs. Times are seconds from the trace's start, to the millisecond."""

import json
from collections.abc import Mapping
from typing import Any

from policy_engine.amounts import iso_date
from policy_engine.explanation.holdings import UNBOUNDED
from policy_engine.explanation.life import JobLife, Run
from policy_engine.explanation.preemptions import PreemptionReason
from policy_engine.explanation.prevention import Change, Effect, Kind, Preventions, Trial, over_committed_by
from policy_engine.explanation.waits import Stretch, UnitShortage, Wait, needs_of
from policy_engine.report.preemption_text import preemption_text
from policy_engine.scheduler import NEVER, Outcome, Reason
from policy_engine.scheduler.reasons import STATUS_REASON
from policy_engine.trace import NONE, ON_STOP

VERSION = 1

Document = dict[str, Any]


def explanation_json(life: JobLife, preventions: Preventions | None) -> str:
    """The document as text, ended by a line break. The same explanation gives the same bytes."""
    return f"{json.dumps(explanation_document(life, preventions), indent=2, ensure_ascii=False)}\n"


def explanation_document(life: JobLife, preventions: Preventions | None) -> Document:
    """What `batch-quota explain --format json` prints, as Python data. `docs/explaining.md` says what is what."""
    outcome, job = life.outcome, life.job
    trace, jobs = outcome.trace, outcome.jobs
    finished = int(jobs.finished_at[job])
    retries = int(trace.preemption_retries[job])
    return {
        "version": VERSION,
        "topology": outcome.topology.name,
        "started_at": None if trace.epoch is None else iso_date(0, trace.epoch),
        "ended_at": _seconds(outcome.ended_at),
        "assumptions": outcome.assumptions.model_dump(mode="json"),
        "job": {
            "id": life.name,
            "share": life.share,
            "need": dict(needs_of(outcome, job)),
            "runtime_seconds": _seconds(int(trace.runtime[job])),
            "priority": int(trace.priority[job]),
            "preemption_retries": None if retries == NONE else retries,
            "checkpoint": _checkpoint(int(trace.checkpoint[job])),
            "status": life.status.name,
            "reason": STATUS_REASON.get(life.reason),
            "reason_code": _code(life.reason),
            "submitted_at": _seconds(int(trace.submitted_at[job])),
            "finished_at": None if finished == NEVER else _seconds(finished),
            "wait_seconds": _seconds(sum(wait.duration for wait in life.waits)),
            "preemptions": int(jobs.preemptions[job]),
            "lost_seconds": _seconds(int(jobs.lost[job])),
        },
        "steps": [_wait(life, step) if isinstance(step, Wait) else _run(outcome, step) for step in life.steps],
        "prevention": None if preventions is None else _preventions(life, preventions),
    }


def _wait(life: JobLife, wait: Wait) -> Document:
    return {
        "step": "WAIT",
        "from": _seconds(wait.start),
        "to": _seconds(wait.end),
        "ended": wait.ended.value,
        "ahead": wait.ahead,
        "overtaken_by": wait.overtaken,
        "stretches": [_stretch(life, stretch) for stretch in wait.stretches],
    }


def _stretch(life: JobLife, stretch: Stretch) -> Document:
    outcome = life.outcome
    stopping = life.waiting.stopping_at(stretch.start, stretch.units) if stretch.units else []
    return {
        "from": _seconds(stretch.start),
        "to": _seconds(stretch.end),
        "front": _id(outcome, stretch.front),
        "about": _id(outcome, stretch.held),
        "reason": stretch.reason.value,
        "misconfiguration": _code(stretch.misconfiguration),
        "units": [_shortage(shortage) for shortage in life.waiting.shortages(stretch)],
        "stopping": [
            {
                "job": _id(outcome, int(outcome.preemptions.victim[row])),
                "for": _id(outcome, int(outcome.preemptions.claimant[row])),
            }
            for row in stopping
        ],
    }


def _shortage(short: UnitShortage) -> Document:
    return {
        "unit": short.unit,
        "need": short.need,
        "capacity": short.capacity,
        "limit": short.limit,
        "kept": short.kept,
        "borrow_cap": None if short.borrow_cap == UNBOUNDED else short.borrow_cap,
        "lendable": short.lendable,
        "now": short.now,
        "later": short.later,
        "stopping": short.stopping,
        "shares": [
            {
                "share": one.share,
                "strategy": one.strategy.value,
                "limit": one.limit,
                "used": one.used,
                "kept": one.kept,
                "idle": one.idle,
                "borrowed": one.borrowed,
            }
            for one in short.shares
            if one.limit or one.used
        ],
    }


def _run(outcome: Outcome, run: Run) -> Document:
    held = None
    if run.held is not None:
        held = [
            {"unit": one.unit, "count": one.count, "borrowed": one.borrowed, "lendable": dict(one.lendable)}
            for one in run.held
        ]
    return {
        "step": "ATTEMPT",
        "scheduled_at": _seconds(run.scheduled_at),
        "running_at": _optional(run.running_at),
        "stopped_at": _optional(run.stopped_at),
        "outcome": run.ended.name,
        "held": held,
        "worked_seconds": _seconds(run.worked),
        "lost_seconds": _seconds(run.lost),
        "told_to_stop_at": _optional(run.told_to_stop_at),
        "preemption": None if run.preemption is None else _preemption(outcome, run.preemption),
    }


def _preemption(outcome: Outcome, reason: PreemptionReason) -> Document:
    return {
        "at": _seconds(reason.at),
        "kind": reason.kind.name,
        "claimant": _id(outcome, reason.claimant),
        "claimant_share": outcome.share_names[int(outcome.share_of_job[reason.claimant])],
        "owed": [
            {
                "unit": one.unit,
                "need": one.need,
                "limit": one.limit,
                "kept": one.kept,
                "available": one.available,
                "set_aside": one.set_aside,
                "short": one.short,
            }
            for one in reason.owed
        ],
        "victim_order": reason.victim_order.value,
        "place": reason.place,
        "candidates": [
            {
                "job": _id(outcome, one.job),
                "share": outcome.share_names[int(outcome.share_of_job[one.job])],
                "priority": one.priority,
                "dispatched_at": _seconds(one.dispatched_at),
                "gives": dict(one.gives),
                "fate": one.fate.value,
            }
            for one in reason.candidates
        ],
        "stopped_together": [_id(outcome, job) for job in reason.stopped_together],
        "otherwise": {order.value: [_id(outcome, job) for job in jobs] for order, jobs in reason.otherwise.items()},
        "lost_seconds": _seconds(reason.lost),
        "text": preemption_text(outcome, reason),
    }


def _preventions(life: JobLife, preventions: Preventions) -> Document:
    return {
        "replays": preventions.replays,
        "without_change": _effect(preventions.base),
        "aims": [
            {
                "aim": one.aim.value,
                "complete": one.complete,
                "found": [_trial(life, trial) for trial in one.found],
                "tried": [_trial(life, trial) for trial in one.trials],
            }
            for one in preventions.by_aim
        ],
    }


def _trial(life: JobLife, trial: Trial) -> Document:
    return {
        "change": _change(trial.change),
        "worked": trial.worked,
        "over_committed_by": over_committed_by(life.outcome.topology, trial.change),
        **_effect(trial.effect),
    }


def _change(change: Change) -> Mapping[str, object]:
    before: object = change.before
    after: object = change.after
    if change.kind is Kind.CHECKPOINT:
        before, after = _checkpoint(int(change.before)), _checkpoint(int(change.after))
    return {"kind": change.kind.value, "share": change.share, "unit": change.unit, "before": before, "after": after}


def _effect(effect: Effect) -> Document:
    return {
        "preemptions": effect.preemptions,
        "lost_seconds": _seconds(effect.lost),
        "longest_wait_seconds": _seconds(effect.longest_wait),
        "finished_at": _optional(effect.ended_at),
        "dispatched": effect.dispatched,
        "succeeded": effect.succeeded,
        "queue": {
            "preemptions": effect.queue_preemptions,
            "lost_instance_seconds": _seconds(effect.queue_lost),
            "wait_seconds": _seconds(effect.queue_wait),
        },
    }


def _checkpoint(value: int) -> int | float | str | None:
    if value == NONE:
        return None
    return "on_stop" if value == ON_STOP else _seconds(value)


def _code(reason: Reason) -> str | None:
    return None if reason is Reason.NONE else reason.name


def _id(outcome: Outcome, job: int) -> str:
    return str(outcome.trace.job_id[job])


def _optional(milliseconds: int | None) -> int | float | None:
    return None if milliseconds is None else _seconds(milliseconds)


def _seconds(milliseconds: int) -> int | float:
    return milliseconds / 1000 if milliseconds % 1000 else milliseconds // 1000
