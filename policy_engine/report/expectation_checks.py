"""Expectations that a replay does not show, as findings at the line that expects it, and as checks."""

from collections.abc import Iterator, Sequence

from policy_engine.assessment import Verdict
from policy_engine.diagnostics import Finding, Severity
from policy_engine.report.checks import Check
from policy_engine.report.verdict_text import broken_text, expected_text
from policy_engine.topology import SourceMap

BROKEN_EXPECTATION = "QM501"
MEND = "change the topology and replay again with batch-quota replay, or expect less"


def expectation_checks(verdicts: Sequence[Verdict], sources: SourceMap, trace: str) -> Iterator[Check]:
    """That the trace is replayed, and a check for each expectation of the topology whose positions these are."""
    yield Check(f"{trace} is replayed")
    for verdict in verdicts:
        name = expected_text(verdict)
        if verdict.broken:
            path = ("expectations", verdict.target, verdict.expectation.metric.value)
            said = broken_text(verdict, trace)
            finding = Finding(BROKEN_EXPECTATION, Severity.ERROR, said, MEND, path, sources.position(path))
            yield Check(name, (finding,), failed=True)
        else:
            yield Check(name, not_judged="" if verdict.judged else verdict.because)
