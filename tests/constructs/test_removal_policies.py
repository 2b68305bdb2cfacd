"""What is retained when it leaves its stack, and what cannot be retained alone."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import App, RemovalPolicy, Stack
from aws_cdk import aws_batch as batch

from batch_quota import (
    QuotaManagedQueue,
    QuotaShare,
    QuotaShareSchedulingPolicy,
    SageMakerTrainingQueue,
    ServiceEnvironment,
    Topology,
)
from policy_engine.change import compare, setup_of_queue
from policy_engine.rules.change_checking import check_changes
from policy_engine.template import read_template

Json = dict[str, Any]
ONE_TYPE = {"ml.g5.xlarge": 3}
TOPOLOGY = Topology.model_validate(
    {
        "name": "training",
        "capacity": {"ml.g5.xlarge": 2},
        "teams": {"search": {"shares": {"search": {"capacity": {"ml.g5.xlarge": 2}, "strategy": "RESERVE"}}}},
    }
)
RETAIN, DESTROY = RemovalPolicy.RETAIN, RemovalPolicy.DESTROY


def policies(template: Json) -> dict[str, tuple[str | None, str | None]]:
    """DeletionPolicy and UpdateReplacePolicy of each Batch resource, by its kind."""
    return {
        resource["Type"].removeprefix("AWS::Batch::"): (
            resource.get("DeletionPolicy"),
            resource.get("UpdateReplacePolicy"),
        )
        for resource in template["Resources"].values()
        if resource["Type"].startswith("AWS::Batch::")
    }


def make(
    stack: Stack,
    *,
    environment: RemovalPolicy | None = None,
    policy: RemovalPolicy | None = None,
    queue: RemovalPolicy | None = None,
    share: RemovalPolicy | None = None,
) -> None:
    """All four parts, each with a removal policy."""
    training = SageMakerTrainingQueue(
        stack,
        "Queue",
        service_environment=ServiceEnvironment(
            stack, "Environment", capacity_limits=ONE_TYPE, removal_policy=environment
        ),
        scheduling_policy=QuotaShareSchedulingPolicy(stack, "Policy", removal_policy=policy),
        removal_policy=queue,
    )
    QuotaShare(
        stack,
        "Share",
        job_queue=training,
        quota_share_name="search",
        capacity_limits=ONE_TYPE,
        strategy="LEND",
        removal_policy=share,
    )


def test_nothing_is_retained_by_default(stack: Stack, synthesized: Callable[[Stack], Json]):
    make(stack)
    assert set(policies(synthesized(stack)).values()) == {(None, None)}


@pytest.mark.parametrize(
    ("policy", "written"),
    [
        (DESTROY, ("Delete", "Delete")),
        (RETAIN, ("Retain", "Retain")),
        (RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE, ("RetainExceptOnCreate", "Retain")),
    ],
)
def test_each_part_takes_a_removal_policy(
    stack: Stack, synthesized: Callable[[Stack], Json], policy: RemovalPolicy, written: tuple[str, str]
):
    make(stack, environment=policy, policy=policy, queue=policy, share=policy)
    assert set(policies(synthesized(stack)).values()) == {written}


def test_shares_of_a_retained_queue_may_be_deleted(stack: Stack, synthesized: Callable[[Stack], Json]):
    make(stack, environment=RETAIN, policy=RETAIN, queue=RETAIN, share=DESTROY)
    assert policies(synthesized(stack))["QuotaShare"] == ("Delete", "Delete")


@pytest.mark.parametrize(
    ("retained", "missing"),
    [
        ({"queue": RETAIN}, ["Stack/Environment", "Stack/Policy"]),
        ({"queue": RETAIN, "environment": RETAIN}, ["Stack/Policy"]),
        ({"queue": RETAIN, "policy": RETAIN, "environment": DESTROY}, ["Stack/Environment"]),
        ({"share": RETAIN}, ["Stack/Queue"]),
    ],
)
def test_a_resource_is_not_retained_without_what_it_needs(
    stack: Stack, retained: dict[str, RemovalPolicy], missing: list[str]
):
    with pytest.raises(ValueError, match="is not valid") as refusal:
        make(stack, **retained)
    problems = [line for line in str(refusal.value).splitlines() if "removal_policy" in line]
    assert len(problems) == len(missing)
    for problem, path in zip(problems, missing, strict=True):
        assert f"is retained, so {path} has to be, too" in problem


def test_what_is_made_elsewhere_is_nobodys_to_retain(stack: Stack, synthesized: Callable[[Stack], Json]):
    arn = "arn:aws:batch:eu-west-1:111122223333"
    SageMakerTrainingQueue(
        stack,
        "Queue",
        service_environment=ServiceEnvironment.from_service_environment_arn(stack, "E", f"{arn}:service-environment/e"),
        scheduling_policy=QuotaShareSchedulingPolicy.from_scheduling_policy_arn(
            stack, "P", f"{arn}:scheduling-policy/p"
        ),
        removal_policy=RETAIN,
    )
    assert policies(synthesized(stack)) == {"JobQueue": ("Retain", "Retain")}


@pytest.mark.parametrize(
    "make_one",
    [
        lambda stack: ServiceEnvironment(stack, "E", capacity_limits=ONE_TYPE, removal_policy=RemovalPolicy.SNAPSHOT),
        lambda stack: QuotaShareSchedulingPolicy(stack, "P", removal_policy=RemovalPolicy.SNAPSHOT),
    ],
)
def test_there_are_no_snapshots(stack: Stack, make_one: Callable[[Stack], object]):
    with pytest.raises(ValueError, match="expected DESTROY, RETAIN or RETAIN_ON_UPDATE_OR_DELETE, not SNAPSHOT"):
        make_one(stack)


@pytest.mark.parametrize(
    ("options", "share", "others"),
    [
        ({}, None, None),
        ({"removal_policy": RETAIN}, "Retain", "Retain"),
        ({"removal_policy": RETAIN, "share_removal_policy": DESTROY}, "Delete", "Retain"),
        ({"share_removal_policy": DESTROY}, "Delete", None),
    ],
)
def test_a_topologys_resources_are_retained_together(
    stack: Stack,
    synthesized: Callable[[Stack], Json],
    options: dict[str, RemovalPolicy],
    share: str | None,
    others: str | None,
):
    QuotaManagedQueue(stack, "Quota", topology=TOPOLOGY, observability=None, access=None, **options)
    found = {kind: deletion for kind, (deletion, _) in policies(synthesized(stack)).items()}
    assert found == {
        "QuotaShare": share,
        "JobQueue": others,
        "ServiceEnvironment": others,
        "SchedulingPolicy": others,
    }


def test_the_escape_hatch_of_the_cdk_works_too(stack: Stack, synthesized: Callable[[Stack], Json]):
    quota = QuotaManagedQueue(stack, "Quota", topology=TOPOLOGY, observability=None, access=None)
    quota.queue.apply_removal_policy(RETAIN)
    resource = quota.service_environment.node.default_child
    assert isinstance(resource, batch.CfnServiceEnvironment)
    resource.apply_removal_policy(RETAIN)
    found = policies(synthesized(stack))
    assert (found["JobQueue"][0], found["ServiceEnvironment"][0]) == ("Retain", "Retain")


@pytest.mark.parametrize(("options", "ids"), [({}, ["QM403"]), ({"removal_policy": RETAIN}, ["QM417"] * 4)])
def test_diff_knows_what_is_retained_when_the_topology_gets_another_name(
    tmp_path: Path, options: dict[str, RemovalPolicy], ids: list[str]
):
    def synthesize(topology: Topology) -> Json:
        app = App(outdir=str(tmp_path / topology.name), builtin_cloud_formation_validation=False)
        QuotaManagedQueue(Stack(app, "Stack"), "Quota", topology=topology, observability=None, access=None, **options)
        return dict(app.synth().get_stack_by_name("Stack").template)

    old, new = (read_template(synthesize(TOPOLOGY.model_copy(update={"name": name}))) for name in ("old", "new"))
    changes = compare(*([setup_of_queue(queue) for queue in reading.queues] for reading in (old, new)))
    assert [found.finding.id for found in check_changes(changes)] == ids
