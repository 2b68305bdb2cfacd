"""What becomes of resources between two topologies, two templates, or one of each; in which order; and of jobs."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from topologies import topologies
from topology_fragments import G5, P5, share, shares, topology_of

from policy_engine.change import QueueChange, QueueSetup, compare, effect, setup_of_queue, setup_of_topology
from policy_engine.rules.change_checking import check_changes
from policy_engine.template import read_template
from policy_engine.topology import SourceMap, Topology

Json = dict[str, Any]
CAPACITY = {"capacity": {G5: 16}}


def setup(fragment: Json) -> QueueSetup:
    return setup_of_topology(topology_of(fragment), SourceMap())


def between(old: Json, new: Json) -> QueueChange:
    (change,) = compare([setup(old)], [setup(new)])
    return change


def listed(change: QueueChange) -> list[tuple[str, str, str]]:
    return [(each.action.value, each.kind.noun, each.name) for each in change.resources]


def settings_of(change: QueueChange) -> dict[str, tuple[object, object]]:
    return {each.setting: (each.old, each.new) for resource in change.resources for each in resource.settings}


def effects(change: QueueChange) -> list[str]:
    return [effect(each, change) for each in change.resources]


def one(**terms: object) -> Json:
    """A topology with one share, `a`, of 4 instances."""
    terms = {"strategy": "LEND", "capacity": {G5: 4}} | terms
    return CAPACITY | shares(a=terms)


def template(**changes: Json) -> Json:
    """A template with a queue `q` and a share `a`; changes by logical id, None for a resource that is not there."""
    resources: Json = {
        "Policy": {"Type": "AWS::Batch::SchedulingPolicy", "Properties": {"Name": "p", "QuotaSharePolicy": {}}},
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {
                "ServiceEnvironmentName": "e",
                "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 16}],
            },
        },
        "Queue": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {
                "JobQueueName": "q",
                "JobQueueType": "SAGEMAKER_TRAINING",
                "SchedulingPolicyArn": {"Ref": "Policy"},
                "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
            },
        },
        "A": {
            "Type": "AWS::Batch::QuotaShare",
            "Properties": {
                "QuotaShareName": "a",
                "JobQueue": {"Ref": "Queue"},
                "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 4}],
                "ResourceSharingConfiguration": {"Strategy": "LEND"},
            },
        },
    }
    for logical_id, properties in changes.items():
        resources[logical_id]["Properties"] |= properties
    return {"Resources": resources}


def of_templates(old: Json, new: Json) -> list[QueueChange]:
    before, after = ([setup_of_queue(queue) for queue in read_template(data).queues] for data in (old, new))
    return list(compare(before, after))


def moved(data: Json, old: str, new: str) -> Json:
    """A template with another logical id."""
    return dict(json.loads(json.dumps(data).replace(f'"{old}"', f'"{new}"')))


def test_the_same_topology_changes_nothing():
    assert compare([setup(one())], [setup(one())]) == ()


@pytest.mark.parametrize(
    ("new", "changed", "jobs"),
    [
        (one(capacity={G5: 6}), {f"capacity {G5}": (4, 6)}, "none"),
        (
            one(capacity={G5: 3}),
            {f"capacity {G5}": (4, 3)},
            "jobs above the new limit can be preempted, also in LEND and RESERVE shares; AWS does not say when",
        ),
        (
            one(strategy="RESERVE"),
            {"strategy": ("LEND", "RESERVE")},
            "AWS does not say whether what it has lent is taken back at once, on demand, or when jobs end",
        ),
        (
            one(strategy="LEND_AND_BORROW", borrow_limit=50),
            {"strategy": ("LEND", "LEND_AND_BORROW"), "borrow limit": ("0 %", "50 %")},
            "none",
        ),
        (
            one(in_share_preemption=True),
            {"in-share preemption": ("DISABLED", "ENABLED")},
            "from now on a job can preempt running jobs of lower priority in its share",
        ),
        (
            one(state="DISABLED"),
            {"state": ("ENABLED", "DISABLED")},
            "new jobs are refused; those already submitted go on",
        ),
        (one(tags={"x": "y"}), {"tag x": (None, "y")}, "none"),
    ],
)
def test_a_share_is_changed_in_place(new: Json, changed: Json, jobs: str):
    change = between(one(), new)
    assert listed(change) == [("update", "quota share", "a")]
    assert settings_of(change) == changed
    assert effects(change) == [jobs]


def test_a_lower_borrow_limit_says_what_is_not_known():
    change = between(one(strategy="LEND_AND_BORROW"), one(strategy="LEND_AND_BORROW", borrow_limit=100))
    assert settings_of(change) == {"borrow limit": ("unlimited", "100 %")}
    assert effects(change) == [
        "AWS does not say whether its jobs on borrowed capacity are stopped at once, on demand, or never"
    ]
    back = between(one(strategy="LEND_AND_BORROW", borrow_limit=100), one(strategy="LEND_AND_BORROW"))
    assert effects(back) == ["none"]


def test_a_share_that_moves_to_another_team_gets_another_tag_only():
    old = CAPACITY | {"teams": {"x": {"shares": {"a": share("LEND")}}, "y": {"shares": {"b": share("LEND")}}}}
    new = CAPACITY | {"teams": {"y": {"shares": {"a": share("LEND"), "b": share("LEND")}}}}
    change = between(old, new)
    assert listed(change) == [("update", "quota share", "a")]
    assert settings_of(change) == {"tag batch-quota:team": ("x", "y")}


def test_the_queue_and_the_environment_are_changed_in_place():
    old = one()
    limits = [{"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "after": "2h"}]
    new = {**one(), "capacity": {G5: 8, P5: 2}, "queue": {"priority": 5, "time_limits": limits}}
    change = between(old, new)
    assert listed(change) == [
        ("update", "service environment", "ml-training-service-environment"),
        ("update", "job queue", "ml-training-queue"),
    ]
    environment, queue = effects(change)
    assert environment == "running jobs go on, even above the new capacity; only new dispatches keep to it"
    assert queue == "a job that has blocked the front of its share for longer is terminated"
    assert settings_of(change)["priority"] == (1, 5)


def test_what_is_removed_comes_last_and_everything_else_in_the_order_of_dependencies():
    old = {**one(), "name": "t"} | shares(a=share("LEND"), gone=share("LEND", 2))
    new = {**one(), "name": "t", "capacity": {G5: 20}} | shares(a=share("LEND", 6), new=share("RESERVE", 1))
    new["queue"] = {"priority": 2}
    assert listed(between(old, new)) == [
        ("update", "service environment", "t-service-environment"),
        ("update", "job queue", "t-queue"),
        ("update", "quota share", "a"),
        ("add", "quota share", "new"),
        ("remove", "quota share", "gone"),
    ]


def test_another_name_of_the_topology_replaces_everything():
    change = between({**one(), "name": "old"}, {**one(), "name": "new"})
    assert [(action, noun) for action, noun, _ in listed(change)] == [
        ("replace", "scheduling policy"),
        ("replace", "service environment"),
        ("replace", "job queue"),
        ("replace", "quota share"),
    ]
    assert effects(change)[2:] == [
        "all jobs of all its shares are terminated, running and waiting",
        "all its jobs are terminated, running and waiting",
    ]


def test_two_templates_are_compared_by_logical_id():
    (change,) = of_templates(template(), template(A={"QuotaShareName": "b"}))
    assert listed(change) == [("replace", "quota share", "b")]
    assert change.resources[0].old_name == "a"
    (change,) = of_templates(template(), moved(template(), "A", "B"))
    assert listed(change) == [("add", "quota share", "a"), ("remove", "quota share", "a")]


def test_a_queue_of_a_template_without_a_name_stays_as_long_as_its_logical_id_does():
    unnamed = template(Queue={"JobQueueName": {"Ref": "AWS::NoValue"}})
    assert of_templates(unnamed, unnamed) == []
    (change,) = of_templates(unnamed, template())
    assert ("replace", "job queue", "q") in listed(change)
    assert ("replace", "quota share", "a") in listed(change)


def test_queues_that_have_nothing_in_common_are_removed_and_added():
    changes = of_templates(template(), moved(template(Queue={"JobQueueName": "r"}), "Queue", "Other"))
    assert [
        (change.name, {each.action.value for each in change.resources if each.kind.noun == "job queue"})
        for change in changes
    ] == [
        ("q", {"remove"}),
        ("r", {"add"}),
    ]


def test_states_of_queue_and_environment_are_compared_though_no_topology_has_them():
    (change,) = of_templates(template(), template(Queue={"State": "DISABLED"}, Environment={"State": "DISABLED"}))
    assert effects(change) == [
        "no new jobs are placed until it is enabled again",
        "new jobs are refused; those already submitted go on",
    ]


def test_a_template_and_a_topology_are_compared_by_name():
    named = template(
        Policy={"Name": "t-scheduling-policy"},
        Environment={"ServiceEnvironmentName": "t-service-environment"},
        Queue={"JobQueueName": "t-queue"},
        A={"Tags": {"batch-quota:team": "research"}},
    )
    before = [setup_of_queue(queue) for queue in read_template(named).queues]
    same = setup({"name": "t", "queue": {"time_limits": []}} | one())
    assert compare(before, [same]) == ()
    assert compare([same], before) == ()
    (change,) = compare(before, [setup({"name": "t", "queue": {"time_limits": []}} | one(capacity={G5: 5}))])
    assert listed(change) == [("update", "quota share", "a")]


many = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@many
@given(topologies(), topologies())
def test_any_two_topologies_can_be_compared_and_judged(old: Topology, new: Topology):
    before, after = setup_of_topology(old, SourceMap()), setup_of_topology(new, SourceMap())
    changes = compare([before], [after])
    assert compare([before], [before]) == ()
    findings = check_changes(changes)
    assert all(found.finding.message and found.finding.help for found in findings)
    for change in changes:
        assert [effect(each, change) for each in change.resources]
        assert {each.name for each in change.resources if each.adds} <= {
            each.name for each in [*after.others(), *after.shares.values()]
        }


@many
@given(topologies(), st.data())
def test_what_is_added_one_way_is_removed_the_other_way(old: Topology, data: st.DataObject):
    new = data.draw(topologies()).model_copy(update={"name": old.name})
    before, after = setup_of_topology(old, SourceMap()), setup_of_topology(new, SourceMap())

    def names(changes: tuple[QueueChange, ...], action: str) -> set[str]:
        return {each.name for change in changes for each in change.shares(action)}

    there, back = compare([before], [after]), compare([after], [before])
    assert names(there, "add") == names(back, "remove")
    assert names(there, "remove") == names(back, "add")
    assert names(there, "update") == names(back, "update")
