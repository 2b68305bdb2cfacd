"""Each rule about changes: what it finds, what it leaves alone, and what it says."""

import json
from typing import Any

import pytest
from topology_fragments import G5, P5, share, shares, topology_of

from policy_engine.change import compare, setup_of_queue, setup_of_topology, unmanaged_queue
from policy_engine.diagnostics import Severity
from policy_engine.rules.change_checking import ChangeFinding, check_changes
from policy_engine.template import read_template
from policy_engine.topology import SourceMap

Json = dict[str, Any]
CAPACITY = {"capacity": {G5: 16}}


def found(old: Json, new: Json) -> list[ChangeFinding]:
    """What all rules find between two topologies."""
    before, after = (setup_of_topology(topology_of(each), SourceMap()) for each in (old, new))
    return check_changes(compare([before], [after]))


def ids(old: Json, new: Json) -> list[str]:
    return [each.finding.id for each in found(old, new)]


def messages(old: Json, new: Json, id_: str) -> list[str]:
    return [each.finding.message for each in found(old, new) if each.finding.id == id_]


def one(**terms: object) -> Json:
    """A topology with one share, `a`, of 4 instances."""
    return CAPACITY | shares(a={"strategy": "LEND", "capacity": {G5: 4}} | terms)


def many(*names: str, **more: Json) -> Json:
    """A topology with shares of one instance each."""
    return {"capacity": {G5: 40}} | shares(**{name: share("LEND", 1) for name in names}, **more)


BORROWER = {"strategy": "LEND_AND_BORROW"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (one(), one(), []),
        (many("a", "b"), many("a", "b", "c"), []),
        (many("a", "b"), many("a"), ["QM401"]),
        (many("a", "b"), many("a", "c"), ["QM402"]),
        (many("a", "b"), many("a", c=share("RESERVE", 1)), ["QM401"]),
        (many("a"), {**many("a"), "name": "other"}, ["QM403"]),
        (one(), one(capacity={G5: 3}), ["QM407"]),
        (one(capacity={G5: 4, P5: 1}), one(), ["QM407"]),
        (one(), one(capacity={G5: 5}), []),
        (one(), one(strategy="RESERVE"), ["QM408"]),
        (one(**BORROWER), one(strategy="RESERVE"), ["QM408", "QM409"]),
        (one(**BORROWER), one(), ["QM409"]),
        (one(**BORROWER), one(**BORROWER, borrow_limit=500), ["QM409"]),
        (one(**BORROWER, borrow_limit=100), one(**BORROWER, borrow_limit=50), ["QM409"]),
        (one(**BORROWER, borrow_limit=50), one(**BORROWER, borrow_limit=100), []),
        (one(**BORROWER, borrow_limit=50), one(**BORROWER, borrow_limit=-1), []),
        (one(), one(**BORROWER), []),
        (one(), one(in_share_preemption=True), ["QM410"]),
        (one(in_share_preemption=True), one(), []),
        (one(), one(state="DISABLED"), ["QM411"]),
        (one(state="DISABLED"), one(), []),
        (one(), {**one(), "capacity": {G5: 8}}, ["QM412"]),
        (one(), {**one(), "capacity": {G5: 20}}, []),
        (one(), {**one(), "capacity": {G5: 16, P5: 4}}, []),
        (one(), one(tags={"a": "b"}), []),
    ],
)
def test_between_two_topologies_rules_find_what_is_dangerous(old: Json, new: Json, expected: list[str]):
    assert ids(old, new) == expected


def test_a_removed_share_is_told_where_it_stood_with_how_to_accept_it():
    (finding,) = found(many("a", "b"), many("a"))
    assert finding.finding.severity is Severity.ERROR
    assert finding.finding.path == ("teams", "research", "shares", "b")
    assert finding.finding.message == "share 'b' is removed: all its jobs are terminated, running and waiting"
    assert finding.finding.help.endswith("--accept QM401@b")
    assert (finding.resource, finding.dangerous) == ("b", True)


def test_a_replaced_queue_is_told_once_and_not_again_for_each_of_its_shares():
    old, new = many("a", "b", "c"), {**many("a", "c"), "name": "other", "capacity": {G5: 30}}
    assert messages(old, new, "QM403") == [
        "queue 'ml-training-queue' is replaced by 'other-queue': "
        "all jobs of all its shares are terminated, running and waiting"
    ]
    assert ids(old, new) == ["QM403"]


def test_several_shares_are_renamed_to_those_that_are_just_like_them():
    old = many("a", b=share("RESERVE", 2), c=share("LEND", 3))
    new = many("z", y=share("RESERVE", 2), x=share("LEND", 3))
    assert [message.split(",")[0] for message in messages(old, new, "QM402")] == [
        "share 'c' is renamed to 'x'",
        "share 'b' is renamed to 'y'",
        "share 'a' is renamed to 'z'",
    ]


def test_each_instance_type_that_a_share_loses_is_told():
    old, new = one(capacity={G5: 4, P5: 2}), one(capacity={G5: 2})
    assert messages(old, new, "QM407") == [
        f"{G5} of share 'a' is lowered from 4 to 2: jobs above it can be preempted",
        f"{P5} of share 'a' has no limit any more: jobs above it can be preempted",
    ]


ORDER = "QM413"


@pytest.mark.parametrize(
    ("old_limits", "new_limits", "capacities", "told"),
    [
        ((8, 8), (4, 4), (16, 8), True),
        ((8, 8), (4, 8), (16, 12), True),
        ((8, 8), (8,), (16, 8), True),
        ((8, 8), (8, 8), (16, 8), False),
        ((4, 4), (2, 2), (16, 8), False),
        ((8, 8), (4, 4), (16, 16), False),
        ((4, 4), (8, 8), (8, 16), False),
    ],
    ids=["both", "one", "a removed share", "no share shrinks", "it fits all the time", "shares first", "both grow"],
)
def test_an_environment_that_shrinks_before_its_shares_is_told(
    old_limits: tuple[int, ...],
    new_limits: tuple[int, ...],
    capacities: tuple[int, int],
    told: bool,  # noqa: FBT001
):
    old, new = (
        {"capacity": {G5: capacity}} | shares(**{f"s{n}": share("LEND", limit) for n, limit in enumerate(limits)})
        for capacity, limits in zip(capacities, (old_limits, new_limits), strict=True)
    )
    assert (ORDER in ids(old, new)) == told
    if told:
        (message,) = messages(old, new, ORDER)
        assert f"shrinks to {capacities[1]} {G5} before its shares do" in message
        assert f"add up to {sum(old_limits)} until then" in message


def test_a_type_that_the_environment_gives_up_is_told_too():
    old = {"capacity": {G5: 4, P5: 2}} | shares(a={"capacity": {G5: 4, P5: 2}, "strategy": "LEND"})
    new = {"capacity": {G5: 4}} | shares(a=share("LEND", 4))
    (message,) = messages(old, new, ORDER)
    assert f"shrinks to 0 {P5}" in message


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [(range(20), range(1, 21), True), (range(19), range(1, 20), False), (range(15), range(10, 30), True)],
)
def test_more_shares_than_aws_allows_while_the_deployment_runs_are_told(before: range, after: range, told: bool):  # noqa: FBT001
    old, new = (many(*(f"s{n}" for n in each)) for each in (before, after))
    assert ("QM414" in ids(old, new)) == told
    if told:
        added = len(set(after) - set(before))
        assert f"would have {len(before) + added} shares" in messages(old, new, "QM414")[0]


def resources(**changes: Json | None) -> Json:
    """A template's resources; properties that are changed by logical id, None for a resource that is not there."""
    made: Json = {
        "Policy": {"Type": "AWS::Batch::SchedulingPolicy", "Properties": {"Name": "p", "QuotaSharePolicy": {}}},
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {"ServiceEnvironmentName": "e", "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 16}]},
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
        if properties is None:
            del made[logical_id]
        else:
            made[logical_id]["Properties"] |= properties
    return made


def retained(made: Json, *logical_ids: str) -> Json:
    for logical_id in logical_ids:
        made[logical_id] |= {"DeletionPolicy": "Retain", "UpdateReplacePolicy": "Retain"}
    return made


def renamed(made: Json, old: str, new: str) -> Json:
    """The resources with another logical id."""
    return dict(json.loads(json.dumps(made).replace(f'"{old}"', f'"{new}"')))


def of_templates(old: Json, new: Json) -> list[str]:
    before, after = (read_template({"Resources": each}) for each in (old, new))
    setups = ([setup_of_queue(queue) for queue in reading.queues] for reading in (before, after))
    changes = compare(*setups, [unmanaged_queue(each) for each in after.unmanaged])
    return [each.finding.id for each in check_changes(changes)]


LIMIT_OF_8 = {"CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 8}]}
LIMIT_OF_20 = {"CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 20}]}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (resources(), resources(), []),
        (resources(), {}, ["QM404"]),
        (resources(), resources(A={"QuotaShareName": "b"}), ["QM402"]),
        (resources(), resources(Queue={"JobQueueName": "r"}), ["QM403"]),
        (resources(), resources(Environment={"ServiceEnvironmentName": "f"}), ["QM405"]),
        (resources(), resources(Policy={"Name": "another"}), []),
        (resources(), resources(Policy={"QuotaSharePolicy": None, "FairsharePolicy": {}}), ["QM406"]),
        (resources(), resources(A=None, Policy={"QuotaSharePolicy": None, "FairsharePolicy": {}}), ["QM406", "QM401"]),
        (resources(), resources(A=None, Queue={"SchedulingPolicyArn": {"Ref": "AWS::NoValue"}}), ["QM401", "QM406"]),
        (resources(), resources(Queue={"State": "DISABLED"}), ["QM411"]),
        (resources(), resources(Environment={"State": "DISABLED"}), ["QM411"]),
        (resources(), renamed(resources(), "A", "B"), ["QM415"]),
        (resources(), renamed(resources(), "Environment", "Gpus"), ["QM415"]),
        (retained(resources(), "A"), resources(A=None), ["QM417"]),
        (retained(resources(), "A", "Queue"), resources(Queue={"JobQueueName": "r"}), ["QM417", "QM417"]),
        (retained(resources(), "Queue"), resources(Queue={"JobQueueName": "r"}), ["QM403", "QM417"]),
        (retained(resources(), "A", "Queue", "Environment", "Policy"), {}, ["QM417"] * 4),
    ],
)
def test_between_two_templates_rules_find_what_is_dangerous(old: Json, new: Json, expected: list[str]):
    assert sorted(of_templates(old, new)) == sorted(expected)


@pytest.mark.parametrize(
    ("share_properties", "extra", "told"),
    [
        ({"JobQueue": "q"}, {}, True),
        ({"JobQueue": "q"}, {"DependsOn": "Queue"}, False),
        ({"JobQueue": "q"}, {"DependsOn": ["Policy", "Queue"]}, False),
        ({"JobQueue": {"Fn::Sub": "${Queue}"}}, {}, False),
    ],
)
def test_resources_that_only_name_each_other_have_no_order(share_properties: Json, extra: Json, told: bool):  # noqa: FBT001
    old, new = resources(A=share_properties), resources(A={**share_properties, **LIMIT_OF_8}, Queue={"Priority": 2})
    for made in (old, new):
        made["A"] |= extra
    assert of_templates(old, new) == (["QM416"] if told else [])
    alone = resources(A={**share_properties, **LIMIT_OF_8})
    alone["A"] |= extra
    assert of_templates(old, alone) == []


def test_a_queue_that_only_names_its_environment_has_no_order_either():
    named = {"ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": "e"}]}
    old = resources(Queue=named)
    new = resources(Queue={**named, "Priority": 2}, Environment=LIMIT_OF_20)
    assert of_templates(old, new) == ["QM416"]


def test_errors_come_first():
    old = CAPACITY | shares(a=share("LEND"), b=share("LEND", 2))
    new = CAPACITY | shares(a=share("RESERVE"))
    assert [each.finding.severity for each in found(old, new)] == [Severity.ERROR, Severity.WARNING]
