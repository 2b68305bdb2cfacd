"""Replaying a trace on a queue of a template, and what breaks its expectations."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from pydantic import ValidationError

from batch_quota.policy_validation.ids import ValidationId
from batch_quota.policy_validation.options import TraceReplay
from batch_quota.policy_validation.violations import Violations
from policy_engine.diagnostics import Finding, InputError, Severity, one_line
from policy_engine.template import Place, TemplateQueue
from policy_engine.topology import Topology, read_topology
from policy_engine.topology.expectations import QUEUE

if TYPE_CHECKING:
    from policy_engine.assessment import Verdict


def replay_on(queue: TemplateQueue, given: TraceReplay, violations: Violations) -> None:
    """Replay a trace on a queue, and note each expectation that does not hold, and why a replay is none."""
    # The replay compiles machine code: nobody waits for it who has no trace.
    from policy_engine.assessment.assessing import assess
    from policy_engine.forecast import Variant, replay_variant
    from policy_engine.pricing import read_prices
    from policy_engine.scheduler import replay
    from policy_engine.trace import read_events, read_trace, training_plan_events

    topology, problem = _with(queue.topology, given)
    if problem is not None:
        violations.add(ValidationId.UNUSABLE_REPLAY, Severity.ERROR, problem, "", queue.place(("queue",)))
        return

    def note(finding: Finding) -> None:
        violations.add(finding.id, Severity.WARNING, one_line(finding), "", queue.place(("queue",)))

    try:
        jobs = read_trace(given.trace, shares=[owned.name for owned in topology.quota_shares()], note=note)
        events = () if given.events is None else read_events(given.events, trace=jobs, topology=topology)
        prices = None if given.prices is None else read_prices(given.prices)
        before = None if given.baseline is None else read_topology(given.baseline).topology
    except InputError as error:
        for finding in error.findings:
            violations.add(finding.id, Severity.ERROR, one_line(finding), "", queue.place(("queue",)))
        return
    outcome = replay(topology, jobs, events=(*training_plan_events(topology, jobs.epoch), *events))
    baseline = None
    if before is not None:
        variant = Variant("baseline", before, before.assumptions.replaced(given.assumptions))
        baseline = replay_variant(variant, jobs, events=events)
    for verdict in assess(outcome, prices=prices, baseline=baseline).verdicts:
        _judge(verdict, queue, given, violations)


def _judge(verdict: "Verdict", queue: TemplateQueue, given: TraceReplay, violations: Violations) -> None:
    from policy_engine.report.expectation_checks import MEND
    from policy_engine.report.verdict_text import broken_text, expected_text

    places = tuple(_places(queue, verdict.target))
    if verdict.broken:
        violations.add(
            ValidationId.BROKEN_EXPECTATION, Severity.ERROR, broken_text(verdict, given.trace), MEND, *places
        )
    elif not verdict.judged:
        said = f"{expected_text(verdict)} is not judged: {verdict.because}"
        violations.add(ValidationId.UNUSABLE_REPLAY, Severity.WARNING, said, _GIVE_A_BASELINE, *places)


_GIVE_A_BASELINE = "TraceReplay(baseline=...) or the context batch-quota:baseline names the topology to compare with"


def _places(queue: TemplateQueue, target: str) -> Iterator[Place]:
    """The resources that an expectation is about: a share, all of a team's, or the queue."""
    if target == QUEUE:
        yield queue.place(("queue",))
        return
    for owned in queue.topology.quota_shares():
        if target in {owned.name, owned.team}:
            yield queue.place(("teams", owned.team, "shares", owned.name))


def _with(topology: Topology, given: TraceReplay) -> tuple[Topology, str | None]:
    """The topology with the expectations and assumptions of a replay, on top of its own; or what is wrong with them."""
    data = topology.model_dump(mode="json", by_alias=True)
    expectations = {**data["expectations"]}
    for target, bounds in given.expectations.items():
        expectations[target] = {**expectations.get(target, {}), **bounds}
    if not expectations:
        return topology, f"the trace {given.trace} is given, and nothing is expected of it: add expectations"
    if not given.expectations and not given.assumptions:
        return topology, None
    changed = {"expectations": expectations, "assumptions": {**data["assumptions"], **given.assumptions}}
    try:
        return Topology.model_validate({**data, **changed}), None
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        return topology, f"the replay of {given.trace} is not valid: {problems}"
