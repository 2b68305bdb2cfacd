"""Which jobs can never run: the rule, which looks at the configuration alone, against the scheduling model."""

import oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from scenarios import Row, make_trace
from topology_fragments import G5, P5, findings_of, topology_of

from policy_engine.scheduler import Reason

LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job require"
TEXTS = {
    Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE: "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - "
    "Service environment(s) associated with the job queue cannot meet the capacity requirement of the job.",
    Reason.LIMIT_EXCEEDED: f"{LIMIT_EXCEEDED}ments exceed quota share capacity limits.",
    Reason.BORROW_LIMIT_EXCEEDED: f"{LIMIT_EXCEEDED}ments exceed quota share capacity limits and borrow limits.",
    Reason.BORROWABLE_EXCEEDED: f"{LIMIT_EXCEEDED}s borrowing that exceeds all configured borrowable capacity.",
}

limits = st.dictionaries(st.sampled_from((G5, P5)), st.integers(1, 6), min_size=1)
strategies = st.sampled_from(("RESERVE", "LEND", "LEND_AND_BORROW"))


@st.composite
def fragments(draw: st.DrawFn) -> dict[str, object]:
    """Up to four shares, of which the first declares its largest job."""
    shares = {}
    for name in ("share-0", "share-1", "share-2", "share-3")[: draw(st.integers(1, 4))]:
        shares[name] = {"capacity": draw(limits), "strategy": draw(strategies)}
        if shares[name]["strategy"] == "LEND_AND_BORROW":
            shares[name]["borrow_limit"] = draw(st.sampled_from((-1, 0, 50, 100, 200)))
    shares["share-0"]["largest_job"] = draw(limits)
    unallocated = draw(st.sampled_from(("unusable", "borrowable")))
    environment = draw(st.dictionaries(st.sampled_from((G5, P5)), st.integers(1, 16), min_size=1))
    fragment = {"teams": {"research": {"shares": shares}}, "assumptions": {"unallocated_capacity": unallocated}}
    return fragment | ({"capacity": environment} if draw(st.booleans()) else {})


@settings(max_examples=100, deadline=None)
@given(fragments())
def test_the_largest_job_can_never_run_just_when_the_model_calls_it_misconfigured(fragment: dict[str, object]):
    topology = topology_of(fragment | {"queue": {"time_limits": []}})
    need = topology.teams["research"].shares["share-0"].largest_job
    assert need
    outcome = oracle.replay(topology, make_trace([Row("job", "share-0", at=0, need=need, runs=60)]))
    (job,) = outcome.jobs
    found = [finding.message.partition("AWS would show: ")[2] for finding in findings_of("QM309", fragment)]
    assert found == ([] if job.reason is Reason.NONE else [TEXTS[job.reason]])


@settings(max_examples=100, deadline=None)
@given(fragments())
def test_a_job_that_has_to_borrow_is_one_that_can_run_and_is_above_its_shares_limit(fragment: dict[str, object]):
    share = topology_of(fragment).teams["research"].shares["share-0"]
    above = any(count > share.capacity.get(unit, 0) for unit, count in (share.largest_job or {}).items())
    never = bool(findings_of("QM309", fragment))
    assert bool(findings_of("QM310", fragment)) == (above and not never)
