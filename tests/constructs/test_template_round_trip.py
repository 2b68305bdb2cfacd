"""Topology, synth, and reading the template: the same topology again, but for what a template cannot carry."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from aws_cdk import App, Stack
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from batch_quota import QuotaManagedQueue, Topology
from policy_engine.template import TemplateQueue, read_template
from policy_engine.template.cloud_assembly import StackTemplate, assembly_of
from policy_engine.topology import OwnedShare, QuotaShare, Team, read_topology
from policy_engine.topology.tags import TEAM_TAG, quota_share_tags

EXAMPLES = Path(__file__).parents[2] / "examples"
UNITS = ("ml.g5.xlarge", "ml.g5.12xlarge", "ml.g5.48xlarge", "ml.p5.48xlarge", "ml.trn1.32xlarge")
REASONS = (
    "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
)
NAMES = st.text("abcXYZ019-_", min_size=1, max_size=12)
TEXTS = st.text("abc 019.:/=+-@_é", max_size=12)


def as_a_template_carries(topology: Topology) -> Topology:
    """What is left of a topology once it was a template, as docs/templates.md says."""
    teams = {
        name: Team(
            shares={
                owned.name: QuotaShare(
                    capacity=dict(sorted(owned.share.capacity.items())),
                    strategy=owned.share.strategy,
                    borrow_limit=None if owned.share.borrow_limit == -1 else owned.share.borrow_limit,
                    in_share_preemption=owned.share.in_share_preemption,
                    state=owned.share.state,
                    tags={key: tag for key, tag in quota_share_tags(topology, owned).items() if key != TEAM_TAG},
                )
                for owned in topology.quota_shares()
                if owned.team == name
            }
        )
        for name, team in topology.teams.items()
        if team.shares
    }
    limits = tuple(sorted(topology.queue.time_limits, key=lambda limit: limit.reason))
    return Topology(
        name=topology.name,
        capacity=topology.capacity,
        queue=topology.queue.model_copy(update={"time_limits": limits}),
        teams=teams,
    )


def synthesized(topology: Topology, folder: Path) -> Path:
    app = App(outdir=str(folder), analytics_reporting=False, builtin_cloud_formation_validation=False)
    QuotaManagedQueue(Stack(app, "Stack"), "Quota", topology=topology, observability=None, access=None)
    app.synth()
    return folder / "Stack.template.json"


def read_back(path: Path) -> TemplateQueue:
    reading = read_template(path)
    assert reading.findings == ()
    (queue,) = reading.queues
    return queue


@st.composite
def capacities(draw: st.DrawFn, units: list[str]) -> dict[str, int]:
    chosen = draw(st.lists(st.sampled_from(units), min_size=1, unique=True))
    return {unit: draw(st.integers(1, 2**31 - 1)) for unit in chosen}


@st.composite
def shares(draw: st.DrawFn, units: list[str]) -> dict[str, Any]:
    strategy = draw(st.sampled_from(("RESERVE", "LEND", "LEND_AND_BORROW")))
    return {
        "capacity": draw(capacities(units)),
        "strategy": strategy,
        "borrow_limit": draw(st.none() | st.integers(-1, 500)) if strategy == "LEND_AND_BORROW" else None,
        "in_share_preemption": draw(st.booleans()),
        "state": draw(st.sampled_from(("ENABLED", "DISABLED"))),
        "tags": draw(st.dictionaries(NAMES, TEXTS, max_size=2)),
        "max_priority": draw(st.none() | st.integers(0, 9999)),
    }


@st.composite
def valid_topologies(draw: st.DrawFn) -> Topology:
    """Topologies that AWS would take: no rule finds an error in them."""
    units = draw(st.lists(st.sampled_from(UNITS), min_size=1, max_size=5, unique=True))
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    team_names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    teams: dict[str, Any] = {
        name: {"shares": {}, "tags": draw(st.dictionaries(NAMES, TEXTS, max_size=2))} for name in team_names
    }
    for name in names:
        teams[draw(st.sampled_from(team_names))]["shares"][name] = draw(shares(units))
    reasons = draw(st.lists(st.sampled_from(REASONS), unique=True))
    return Topology.model_validate(
        {
            "name": draw(NAMES),
            "capacity": {unit: draw(st.integers(1, 2**31 - 1)) for unit in units},
            "queue": {
                "priority": draw(st.integers(0, 1000)),
                "time_limits": [{"reason": reason, "after": draw(st.integers(600, 86_400))} for reason in reasons],
                "tags": draw(st.dictionaries(NAMES, TEXTS, max_size=2)),
            },
            "teams": teams,
            "expectations": draw(st.sampled_from(({}, {"queue": {"preemptions": 3, "wait_p95": "5m"}}))),
            "assumptions": draw(st.sampled_from(({}, {"stop_seconds": 30, "startup_seconds": {"default": "2m"}}))),
        }
    )


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(valid_topologies())
def test_a_topology_comes_back_from_its_template(topology: Topology):
    with TemporaryDirectory() as folder:
        path = synthesized(topology, Path(folder, "cdk.out"))
        read = read_back(path)
        assembly = assembly_of([StackTemplate(str(path))])
    assert read.topology == as_a_template_carries(topology)
    assert read.name == topology.queue_name
    (declared,) = assembly.declared[str(path)]
    assert declared == topology
    completed = read.with_declared(declared).topology
    assert completed.expectations == topology.expectations
    assert completed.assumptions == topology.assumptions
    assert list(completed.quota_shares()) == [
        owned._replace(share=owned.share.model_copy(update=_carried(topology, owned)))
        for owned in topology.quota_shares()
    ]


def _carried(topology: Topology, owned: OwnedShare) -> dict[str, object]:
    expected = as_a_template_carries(topology).teams[owned.team].shares[owned.name]
    return {"tags": expected.tags, "borrow_limit": expected.borrow_limit}


@pytest.mark.parametrize("name", ["ml-training", "notebook"])
def test_the_examples_come_back_from_their_templates(name: str, tmp_path: Path):
    topology = read_topology(EXAMPLES / f"{name}.yaml").topology
    assert read_back(synthesized(topology, tmp_path)).topology == as_a_template_carries(topology)
