"""What training plans do to the environment's capacity while a trace runs."""

from datetime import UTC, datetime

from topology_fragments import topology_of

from policy_engine.topology import Topology
from policy_engine.trace import UpdateCapacity, has_training_plans, training_plan_events

P5 = "ml.p5.48xlarge"
EPOCH = int(datetime(2026, 3, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000
DAY = 24 * HOUR


def plan(count: int, starts: str, ends: str, name: str = "spring") -> dict[str, object]:
    arn = f"arn:aws:sagemaker:us-east-1:111122223333:training-plan/{name}"
    return {"count": count, "training_plan": arn, "from": starts, "until": ends}


def topology(*entries: object) -> Topology:
    return topology_of({"capacity": {"ml.g5.xlarge": 4, P5: list(entries)}})


def update(at: int, capacity: int) -> UpdateCapacity:
    return UpdateCapacity(at=at, unit=P5, capacity=capacity)


def test_without_plans_nothing_changes():
    assert not has_training_plans(topology(2))
    assert training_plan_events(topology(2), EPOCH) == ()


def test_without_a_date_nothing_can_be_said():
    lasting = topology(2, plan(4, "2026-03-02T00:00:00Z", "2026-03-04T00:00:00Z"))
    assert has_training_plans(lasting)
    assert training_plan_events(lasting, None) == ()


def test_a_plans_instances_come_at_its_start_and_go_half_an_hour_before_its_end():
    lasting = topology(2, plan(4, "2026-03-02T00:00:00Z", "2026-03-04T00:00:00Z"))
    expected = (update(0, 2), update(DAY, 6), update(3 * DAY - HOUR // 2, 2))
    assert training_plan_events(lasting, EPOCH) == expected


def test_a_trace_that_begins_within_a_plan_sees_its_end_alone():
    lasting = topology(2, plan(4, "2026-02-01T00:00:00Z", "2026-03-04T00:00:00Z"))
    assert training_plan_events(lasting, EPOCH) == (update(3 * DAY - HOUR // 2, 2),)


def test_a_trace_that_begins_after_a_plan_goes_without():
    over = topology(2, plan(4, "2026-02-01T00:00:00Z", "2026-03-01T00:30:00Z"))
    assert training_plan_events(over, EPOCH) == (update(0, 2),)


def test_plans_that_follow_each_other_leave_a_gap_of_half_an_hour():
    following = topology(
        plan(4, "2026-02-01T00:00:00Z", "2026-03-02T00:00:00Z"),
        plan(4, "2026-03-02T00:00:00Z", "2026-03-03T00:00:00Z", "summer"),
    )
    expected = (update(DAY - HOUR // 2, 0), update(DAY, 4), update(2 * DAY - HOUR // 2, 0))
    assert training_plan_events(following, EPOCH) == expected


def test_plans_that_overlap_add_up():
    overlapping = topology(
        plan(4, "2026-02-01T00:00:00Z", "2026-03-03T00:00:00Z"),
        plan(3, "2026-03-02T00:00:00Z", "2026-03-05T00:00:00Z", "summer"),
    )
    expected = (update(0, 4), update(DAY, 7), update(2 * DAY - HOUR // 2, 3), update(4 * DAY - HOUR // 2, 0))
    assert training_plan_events(overlapping, EPOCH) == expected
