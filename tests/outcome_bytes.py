"""An outcome as bytes, and the fingerprints of many replays. Run as a program, it prints them, to compare processes."""

import hashlib
import json
import sys
from collections.abc import Iterable
from dataclasses import fields

from scenarios import Scenario, random_scenario

from policy_engine.report.outcome_json import outcome_document
from policy_engine.scheduler import Outcome, replay
from policy_engine.trace import JobTrace


def columns_as_bytes(columns: object, names: Iterable[str]) -> bytes:
    """The arrays of a table, each with its name, type and length."""
    parts = []
    for name in names:
        values = getattr(columns, name)
        parts += [f"{name} {values.dtype.str} {len(values)}\n".encode(), values.tobytes()]
    return b"".join(parts)


def outcome_as_bytes(outcome: Outcome) -> bytes:
    """All that a replay gives, and nothing that it was given."""
    tables = (outcome.jobs, outcome.attempts, outcome.preemptions)
    parts = [columns_as_bytes(table, [field.name for field in fields(table)]) for table in tables]
    return b"".join([f"ended_at {outcome.ended_at}\n".encode(), *parts])


def trace_as_bytes(trace: JobTrace) -> bytes:
    """All columns of a trace."""
    arrays = [name for name in trace.__slots__ if hasattr(getattr(trace, name), "tobytes")]
    names = (trace.job_id.to_list(), trace.share_names, trace.units, trace.epoch)
    return repr(names).encode() + columns_as_bytes(trace, arrays)


def replayed(scenario: Scenario, *, use_compiled: bool = False) -> Outcome:
    topology, trace, events = scenario.topology, scenario.trace, scenario.events
    return replay(topology, trace, events=events, until=scenario.until, use_compiled=use_compiled)


def fingerprint(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def fingerprints(seeds: Iterable[int], *, use_compiled: bool = False) -> list[str]:
    """One for each random scenario, of its outcome."""
    return [fingerprint(outcome_as_bytes(replayed(random_scenario(seed), use_compiled=use_compiled))) for seed in seeds]


def document_fingerprint(seeds: Iterable[int]) -> str:
    """One of what `batch-quota replay --format json` would print for all of them."""
    documents = [outcome_document(replayed(random_scenario(seed)), usage=True) for seed in seeds]
    return fingerprint(json.dumps(documents).encode())


if __name__ == "__main__":
    numbers = range(int(sys.argv[1]))
    sys.stdout.write("\n".join([*fingerprints(numbers), document_fingerprint(numbers)]))
