"""What of a trace can be replayed on a topology that differs from the one it was made for."""

import pytest
from outcome_bytes import outcome_as_bytes
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, make_scenario, random_scenario, share

from policy_engine.forecast import Variant, replay_variant
from policy_engine.forecast.variants import left_out, trace_for, union
from policy_engine.scheduler import replay
from policy_engine.topology import Topology
from policy_engine.trace import SetShareState, Terminate, Unavailable, UpdateCapacity, UpdatePriority, UpdateShare

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
JOBS = [Row(f"{name}{number}", name, 10 * number, {G5: 1}, 60) for number in range(3) for name in ("old", "kept")]


def topology(*names: str, unit: str = G5) -> Topology:
    return make_scenario({unit: 4}, {name: share({unit: 1}, RESERVE) for name in names}, []).topology


TRACE = make_scenario({G5: 4}, {name: share({G5: 1}) for name in ("old", "kept")}, JOBS).trace


def test_a_trace_that_fits_is_left_as_it_is():
    assert trace_for(Variant("v", topology("old", "kept")), TRACE) is TRACE


def test_jobs_of_a_share_that_is_not_there_are_left_out_and_counted():
    variant = Variant("v", topology("kept"))
    assert trace_for(variant, TRACE).job_id.to_list() == ["kept0", "kept1", "kept2"]
    assert left_out(variant, TRACE) == {"old": 3}
    assert len(replay_variant(variant, TRACE).trace) == 3


def test_jobs_can_be_moved_to_another_share():
    variant = Variant("v", topology("kept"), moved={"old": "kept"})
    moved = trace_for(variant, TRACE)
    assert (moved.share_names, set(moved.share.tolist()), len(moved)) == (("kept",), {0}, 6)
    assert left_out(variant, TRACE) == {}


def test_jobs_are_moved_only_from_shares_that_are_not_there():
    variant = Variant("v", topology("old", "kept"), moved={"old": "kept"})
    assert trace_for(variant, TRACE) is TRACE


def test_events_that_name_what_is_not_there_are_left_out():
    known = [
        UpdatePriority(at=0, job="kept0", priority=1),
        UpdateShare(at=0, share="kept", limits={G5: 2}),
        UpdateCapacity(at=0, unit=G5, capacity=3),
        Unavailable(at=0, unit=G5, until=5),
    ]
    unknown = [
        Terminate(at=0, job="old0"),
        UpdatePriority(at=0, job="old1", priority=1),
        UpdateShare(at=0, share="old", limits={G5: 2}),
        UpdateShare(at=0, share="kept", limits={P5: 2}),
        SetShareState(at=0, share="old", state="DISABLED"),
        UpdateCapacity(at=0, unit=P5, capacity=3),
    ]
    outcome = replay_variant(Variant("v", topology("kept")), TRACE, events=[*unknown, *known])
    assert list(outcome.events) == known


def test_a_variant_is_replayed_under_its_own_assumptions_or_those_of_its_topology():
    base = topology("old", "kept")
    other = base.assumptions.replaced({"stop_seconds": 7})
    assert replay_variant(Variant("v", base), TRACE).assumptions == base.assumptions
    assert replay_variant(Variant("v", base, other), TRACE).assumptions == other


def test_a_union_knows_every_share_and_instance_type():
    both = union([topology("a", "b"), topology("b", "c", unit=P5)])
    assert [owned.name for owned in both.quota_shares()] == ["a", "b", "c"]
    assert set(both.units()) == {G5, P5}


@pytest.mark.parametrize("seed", range(40))
def test_a_variant_of_the_same_topology_is_a_plain_replay(seed: int):
    made = random_scenario(seed)
    expected = replay(made.topology, made.trace, events=made.events, until=made.until, use_compiled=False)
    found = replay_variant(Variant("v", made.topology), made.trace, events=made.events, until=made.until)
    assert outcome_as_bytes(found) == outcome_as_bytes(expected)


def test_lending_is_not_changed_by_jobs_that_are_left_out():
    shares = {"old": share({G5: 2}, LEND), "kept": share({G5: 2}, LEND_AND_BORROW)}
    scenario = make_scenario({G5: 4}, shares, [Row("o", "old", 0, {G5: 2}, 60), Row("k", "kept", 0, {G5: 2}, 60)])
    alone = make_scenario({G5: 2}, {"kept": shares["kept"]}, [Row("k", "kept", 0, {G5: 2}, 60)])
    found = replay_variant(Variant("v", alone.topology), scenario.trace)
    expected = replay(alone.topology, alone.trace, use_compiled=False)
    assert found.jobs.finished_at.tolist() == expected.jobs.finished_at.tolist()
