import json
from pathlib import Path

import pytest
from jsonschema import Draft7Validator
from ruamel.yaml import YAML

from policy_engine.assumptions import Assumptions
from policy_engine.topology import Topology, read_topology
from policy_engine.topology.instance_types import training_instance_types
from policy_engine.topology.schema import topology_schema

ROOT = Path(__file__).parents[2]
SCHEMA_FILE = ROOT / "schemas" / "topology.schema.json"
EXAMPLES = sorted((ROOT / "examples").glob("*.yaml"))
BASE: dict[str, object] = {
    "name": "t",
    "capacity": {"ml.g5.xlarge": 2},
    "teams": {"a": {"shares": {"s": {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND"}}}},
}


def is_valid(document: object) -> bool:
    return Draft7Validator(topology_schema()).is_valid(document)


def with_share(**fields: object) -> dict[str, object]:
    share = {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND"} | fields
    return BASE | {"teams": {"a": {"shares": {"s": share}}}}


def test_the_schema_is_itself_valid():
    Draft7Validator.check_schema(topology_schema())


def test_the_committed_schema_is_the_one_that_is_printed():
    assert json.loads(SCHEMA_FILE.read_text()) == topology_schema(), (
        "run: batch-quota schema > schemas/topology.schema.json"
    )


def test_there_are_examples():
    assert {path.name for path in EXAMPLES} >= {"ml-training.yaml", "notebook.yaml"}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_every_example_is_valid_and_names_the_schema(path: Path):
    first, text = path.read_text().split("\n", 1)
    assert first == "# yaml-language-server: $schema=../schemas/topology.schema.json"
    assert (path.parent / first.rpartition("=")[2]).resolve() == SCHEMA_FILE
    errors = [error.message for error in Draft7Validator(topology_schema()).iter_errors(YAML(typ="safe").load(text))]
    assert errors == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_what_the_model_writes_is_valid(path: Path):
    assert is_valid(read_topology(path).topology.model_dump(mode="json", exclude_none=True))


@pytest.mark.parametrize(
    "document",
    [
        BASE,
        BASE | {"x-anchors": {"anything": [1]}},
        BASE | {"capacity": {"ml.z9.96xlarge": 1}},
        BASE
        | {
            "queue": {
                "priority": 0,
                "time_limits": [{"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "after": 600}],
            }
        },
        BASE | {"expectations": {"s": {"wait_p95": "<= 1h30m", "utilization": ">= 62.5%", "preemptions": 0}}},
        BASE | {"expectations": {"s": {"wait_p95": "baseline * 1.1 + 5m", "goodput": ">= baseline - 2%", "cost": 9}}},
        BASE | {"assumptions": {"stop_seconds": "2m", "startup_seconds": {"default": "3m", "ml.g5.xlarge": 4}}},
        BASE | {"suppressions": [{"rule": "QM304", "reason": "because"}]},
        with_share(strategy="LEND_AND_BORROW", borrow_limit=-1, in_share_preemption=True, max_priority=9999),
    ],
)
def test_what_may_be_written_is_valid_and_read_by_the_model(document: dict[str, object]):
    assert is_valid(document)
    Topology.model_validate({key: value for key, value in document.items() if not key.startswith("x-")})


@pytest.mark.parametrize(
    "document",
    [
        {},
        BASE | {"capcity": {}},
        BASE | {"name": 2024},
        BASE | {"name": "a b"},
        BASE | {"capacity": {"ml.g5.xlarge": 0}},
        BASE | {"capacity": {"ml.g5.xlarge": "1"}},
        BASE | {"capacity": {"g5.xlarge": 1}},
        BASE | {"capacity": {"NUM_INSTANCES": 1}},
        BASE | {"capacity": {}},
        BASE | {"capacity": dict.fromkeys(training_instance_types()[:6], 1)},
        BASE | {"teams": {}},
        BASE | {"queue": {"priority": 1001}},
        BASE | {"queue": {"time_limits": [{"reason": "OTHER", "after": "1h"}]}},
        BASE | {"queue": {"time_limits": [{"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "after": "1 h"}]}},
        BASE | {"queue": {"tags": {"k": 1}}},
        BASE | {"expectations": {"s": {"wait_p90": "5m"}}},
        BASE | {"expectations": {"s": {"wait_p95": "soon"}}},
        BASE | {"expectations": {"s": {"utilization": "60%"}}},
        BASE | {"expectations": {"s": {"utilization": "baseline"}}},
        BASE | {"expectations": {"s": {"preemptions": "<= baseline / 2"}}},
        BASE | {"assumptions": {"victim_order": "random"}},
        BASE | {"suppressions": [{"rule": "QM304"}]},
        with_share(strategy="lend"),
        with_share(borrow_limit=-2),
        with_share(borrow_limit=None),
        with_share(max_priority=10_000),
        with_share(in_share_preemption="yes"),
        with_share(capacity={}),
    ],
)
def test_what_may_not_be_written_is_invalid(document: dict[str, object]):
    assert not is_valid(document)


def test_every_key_has_a_description():
    schema = topology_schema()
    mappings = [schema, *(schema["$defs"].values())]  # type: ignore[union-attr]
    undescribed = [
        name
        for mapping in mappings
        for name, value in mapping.get("properties", {}).items()
        if "description" not in value and not name.startswith("ml.")
    ]
    assert undescribed == []


def test_the_defaults_of_assumptions_are_in_the_units_of_the_document():
    properties = topology_schema()["$defs"]["Assumptions"]["properties"]  # type: ignore[index,call-overload]
    assert {name: value["default"] for name, value in properties.items()} == Assumptions().model_dump(mode="json")
    assert properties["stop_seconds"]["default"] == 120
