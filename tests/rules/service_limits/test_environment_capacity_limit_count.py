import pytest
from topology_fragments import found

from policy_engine.topology.instance_types import training_instance_types

RULE = "QM102"


def of(count: int) -> dict[str, object]:
    return {"capacity": dict.fromkeys(training_instance_types()[:count], 1)}


@pytest.mark.parametrize("count", [1, 5])
def test_one_to_five_instance_types_are_allowed(count: int):
    assert found(RULE, of(count)) == []


@pytest.mark.parametrize(("count", "shown"), [(0, "no"), (6, "6"), (100, "100")])
def test_none_or_more_are_reported(count: int, shown: str):
    assert found(RULE, of(count)) == [
        (("capacity",), f"the environment has {shown} capacity limits; AWS expects 1 to 5")
    ]
