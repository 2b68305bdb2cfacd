import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, Stack
from pydantic import JsonValue

from batch_quota import TEAM_TAG, AccessOptions, QuotaManagedQueue, Topology
from policy_engine.topology import read_topology

Json = dict[str, Any]
EXAMPLE = Path(__file__).parents[2] / "examples" / "ml-training.yaml"

TOPOLOGY: Json = {
    "name": "ml-training",
    "capacity": {"ml.g5.xlarge": 16, "ml.g5.48xlarge": 4},
    "queue": {
        "priority": 10,
        "time_limits": [
            {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "after": "1h"},
            {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "after": "1d"},
        ],
        "tags": {"owner": "platform"},
    },
    "teams": {
        "search": {
            "tags": {"cost-center": "4711", "stage": "all"},
            "shares": {
                "search-prod": {
                    "capacity": {"ml.g5.48xlarge": 2},
                    "strategy": "RESERVE",
                    "tags": {"stage": "production"},
                },
                "search-background": {
                    "capacity": {"ml.g5.xlarge": 8, "ml.g5.48xlarge": 1},
                    "strategy": "LEND_AND_BORROW",
                    "borrow_limit": 0,
                    "in_share_preemption": True,
                },
            },
        },
        "ads": {"shares": {"ads": {"capacity": {"ml.g5.xlarge": 8}, "strategy": "LEND", "state": "DISABLED"}}},
    },
}


@pytest.fixture
def template(tmp_path: Path) -> Callable[[Json], Json]:
    """The template that a topology becomes, in an app of its own."""
    made = 0

    def synthesize(topology: Json) -> Json:
        nonlocal made
        made += 1
        app = App(outdir=str(tmp_path / str(made)), builtin_cloud_formation_validation=False)
        topology_ = Topology.model_validate(topology)
        QuotaManagedQueue(Stack(app, "Stack"), "Quota", topology=topology_, observability=None)
        return dict(app.synth().get_stack_by_name("Stack").template)

    return synthesize


@pytest.fixture
def quota(stack: Stack) -> QuotaManagedQueue:
    return QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(TOPOLOGY), observability=None)


def test_a_topology_becomes_a_policy_an_environment_a_queue_and_its_shares(
    stack: Stack, quota: QuotaManagedQueue, synthesized: Callable[[Stack], Json]
):
    resources = synthesized(stack)["Resources"].values()
    named = {
        next(value for key, value in resource["Properties"].items() if key.endswith("Name")): resource["Type"]
        for resource in resources
    }
    assert named == {
        "ml-training-scheduling-policy": "AWS::Batch::SchedulingPolicy",
        "ml-training-service-environment": "AWS::Batch::ServiceEnvironment",
        "ml-training-queue": "AWS::Batch::JobQueue",
        "ads": "AWS::Batch::QuotaShare",
        "search-background": "AWS::Batch::QuotaShare",
        "search-prod": "AWS::Batch::QuotaShare",
    }
    assert list(quota.quota_shares) == ["ads", "search-background", "search-prod"]
    assert quota.queue.service_environment is quota.service_environment
    assert quota.topology.name == "ml-training"


def test_a_share_says_what_its_topology_says(template: Callable[[Json], Json]):
    shares = _shares(template(TOPOLOGY))
    assert {key: shares["search-background"][key] for key in shares["search-background"] if key != "JobQueue"} == {
        "QuotaShareName": "search-background",
        "CapacityLimits": [
            {"CapacityUnit": "ml.g5.48xlarge", "MaxCapacity": 1},
            {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 8},
        ],
        "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 0},
        "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
        "State": "ENABLED",
        "Tags": {TEAM_TAG: "search", "cost-center": "4711", "stage": "all"},
    }
    assert shares["ads"]["State"] == "DISABLED"


def test_the_queues_tags_go_to_policy_environment_and_queue_only(template: Callable[[Json], Json]):
    tags = {
        resource["Type"].removeprefix("AWS::Batch::"): resource["Properties"]["Tags"].get("owner")
        for resource in template(TOPOLOGY)["Resources"].values()
    }
    assert tags == {
        "SchedulingPolicy": "platform",
        "ServiceEnvironment": "platform",
        "JobQueue": "platform",
        "QuotaShare": None,
    }


def test_a_shares_own_tags_win_over_its_teams(template: Callable[[Json], Json]):
    shares = _shares(template(TOPOLOGY))
    assert shares["search-prod"]["Tags"] == {TEAM_TAG: "search", "cost-center": "4711", "stage": "production"}


def test_time_limits_terminate(template: Callable[[Json], Json]):
    (queue,) = _properties(template(TOPOLOGY), "JobQueue")
    assert queue["JobStateTimeLimitActions"] == [
        {"Action": "TERMINATE", "State": "RUNNABLE", "MaxTimeSeconds": seconds, "Reason": reason}
        for seconds, reason in [
            (86_400, "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"),
            (3_600, "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"),
        ]
    ]


def test_the_order_of_the_file_changes_not_a_byte(template: Callable[[Json], Json]):
    turned = _reversed(TOPOLOGY)
    assert list(turned["teams"]) == ["ads", "search"]
    assert json.dumps(template(turned)) == json.dumps(template(TOPOLOGY))


def test_renaming_a_team_changes_the_team_tag_of_its_shares_only(template: Callable[[Json], Json]):
    renamed = {**TOPOLOGY, "teams": {"discovery": TOPOLOGY["teams"]["search"], "ads": TOPOLOGY["teams"]["ads"]}}
    expected = template(TOPOLOGY)
    for share in _properties(expected, "QuotaShare"):
        if share["QuotaShareName"].startswith("search-"):
            share["Tags"][TEAM_TAG] = "discovery"
    assert template(renamed) == expected


def test_moving_a_share_to_another_team_changes_its_tags_only(template: Callable[[Json], Json]):
    moved = json.loads(json.dumps(TOPOLOGY))
    moved["teams"]["ads"]["shares"]["search-prod"] = moved["teams"]["search"]["shares"].pop("search-prod")
    expected = template(TOPOLOGY)
    _shares(expected)["search-prod"]["Tags"] = {TEAM_TAG: "ads", "stage": "production"}
    assert template(moved) == expected


def test_adding_a_share_leaves_all_other_resources_alone(template: Callable[[Json], Json]):
    more = json.loads(json.dumps(TOPOLOGY))
    more["teams"]["ads"]["shares"]["aaa-first-by-name"] = {"capacity": {"ml.g5.48xlarge": 1}, "strategy": "LEND"}
    before, after = template(TOPOLOGY)["Resources"], template(more)["Resources"]
    assert {key: after[key] for key in before} == before
    assert len(after) == len(before) + 1


def test_renaming_a_share_is_another_resource_and_no_update(template: Callable[[Json], Json]):
    renamed = json.loads(json.dumps(TOPOLOGY))
    renamed["teams"]["ads"]["shares"]["ads-2"] = renamed["teams"]["ads"]["shares"].pop("ads")
    before, after = template(TOPOLOGY)["Resources"], template(renamed)["Resources"]
    assert len(before.keys() - after.keys()) == len(after.keys() - before.keys()) == 1


def test_share_names_that_differ_in_punctuation_only_are_different_resources(template: Callable[[Json], Json]):
    names = ["a-b", "a_b", "ab", "a-b-", "A-B"]
    shares = {name: {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND"} for name in names}
    assert sorted(_shares(template({**TOPOLOGY, "teams": {"all": {"shares": shares}}}))) == sorted(names)


def test_cloudformation_makes_policy_and_environment_before_the_queue_and_the_queue_before_the_shares(
    template: Callable[[Json], Json],
):
    resources = template(TOPOLOGY)["Resources"]
    kinds = {logical_id: resource["Type"].removeprefix("AWS::Batch::") for logical_id, resource in resources.items()}
    waits_for = {
        (kinds[logical_id], kinds[other])
        for logical_id, resource in resources.items()
        for other in [*_referenced(resource["Properties"]), *resource.get("DependsOn", [])]
    }
    assert waits_for == {
        ("JobQueue", "SchedulingPolicy"),
        ("JobQueue", "ServiceEnvironment"),
        ("QuotaShare", "JobQueue"),
    }


def test_two_topologies_fit_into_one_stack(stack: Stack, synthesized: Callable[[Stack], Json]):
    for name in ("research", "production"):
        QuotaManagedQueue(stack, name, topology=Topology.model_validate({**TOPOLOGY, "name": name}))
    kinds = Counter(resource["Type"] for resource in synthesized(stack)["Resources"].values())
    assert kinds["AWS::Batch::QuotaShare"] == 6
    assert kinds["AWS::CloudWatch::Dashboard"] == 2


def test_all_errors_of_a_topology_are_told_at_once_with_the_constructs_path(stack: Stack):
    bad = json.loads(json.dumps(TOPOLOGY))
    bad["teams"]["ads"]["shares"]["ads"]["borrow_limit"] = 100
    bad["teams"]["search"]["shares"]["search-prod"]["capacity"] = {"ml.g5.48xlarge": 0}
    with pytest.raises(ValueError, match="Stack/Quota is not valid") as refusal:
        QuotaManagedQueue(stack, "Quota", topology=Topology.model_validate(bad))
    assert [line.split(":")[0] for line in str(refusal.value).splitlines()[1:]] == [
        "  - QM106 teams.search.shares.search-prod.capacity.ml.g5.48xlarge",
        "  - QM203 teams.ads.shares.ads.borrow_limit",
    ]
    assert stack.node.children == []


@pytest.mark.parametrize(
    ("props", "problem"),
    [
        ({"topology": EXAMPLE}, f"topology: expected a Topology, not a path: read_topology('{EXAMPLE}').topology"),
        (
            {"topology": read_topology(EXAMPLE)},
            "topology: expected a Topology, not a TopologyDocument: read_topology(PATH).topology",
        ),
        ({"topology": TOPOLOGY}, "topology: expected a Topology, not dict: Topology.model_validate(…) makes one"),
        ({"observability": True}, "observability: expected ObservabilityOptions or None, not True"),
        ({"access": False}, "access: expected AccessOptions or None, not False"),
        ({"access": AccessOptions(job_tag="NEEDED")}, "access: job_tag: expected REQUIRED or OPTIONAL, not 'NEEDED'"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else str(value).split(":", maxsplit=1)[0],
)
def test_what_people_try_first_is_refused_with_what_to_write(stack: Stack, props: Json, problem: str):
    with pytest.raises(ValueError, match="Stack/Quota is not valid") as refusal:
        QuotaManagedQueue(stack, "Quota", **{"topology": Topology.model_validate(TOPOLOGY), **props})
    assert str(refusal.value).splitlines()[1:] == [f"  - {problem}"]
    assert stack.node.children == []


def _properties(template: Json, kind: str) -> list[Json]:
    return [r["Properties"] for r in template["Resources"].values() if r["Type"] == f"AWS::Batch::{kind}"]


def _shares(template: Json) -> dict[str, Json]:
    return {share["QuotaShareName"]: share for share in _properties(template, "QuotaShare")}


def _reversed(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(item) for item in reversed(value)] if isinstance(value, list) else value


def _referenced(value: object) -> list[str]:
    if isinstance(value, dict):
        if "Ref" in value:
            return [value["Ref"]]
        if "Fn::GetAtt" in value:
            return [value["Fn::GetAtt"][0]]
        return [name for item in value.values() for name in _referenced(item)]
    return [name for item in value for name in _referenced(item)] if isinstance(value, list) else []
