"""How many GPUs an instance has."""

import gzip
import json
from importlib.resources import files

import pytest

from policy_engine.pricing import gpu_count
from policy_engine.topology.instance_types import training_instance_types, training_plan_instance_types

RECORDED = json.loads(gzip.decompress(files("moto.ec2").joinpath("resources/instance_types.json.gz").read_bytes()))
TYPES = sorted({*training_instance_types(), *training_plan_instance_types()})


def test_the_table_agrees_with_what_ec2_says():
    recorded = {name: RECORDED.get(name.removeprefix("ml.")) for name in TYPES}
    expected = {
        name: sum(gpu["Count"] for gpu in entry.get("GpuInfo", {}).get("Gpus", []))
        for name, entry in recorded.items()
        if entry is not None
    }
    assert len(expected) > 100
    assert {name: gpu_count(name) for name in expected} == expected


def test_every_instance_type_that_sagemaker_trains_on_is_known():
    assert [name for name in TYPES if gpu_count(name) is None] == []


@pytest.mark.parametrize(
    ("instance_type", "count"),
    [("ml.p9.48xlarge", None), ("ml.g99.xlarge", None), ("ml.m5.large", 0), ("ml.trn1.32xlarge", 0)],
)
def test_a_gpu_type_that_is_not_known_is_not_taken_to_have_none(instance_type: str, count: int | None):
    assert gpu_count(instance_type) == count
