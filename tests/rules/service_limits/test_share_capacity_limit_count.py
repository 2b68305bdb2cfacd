import pytest
from topology_fragments import found, share, share_path, shares

from policy_engine.topology.instance_types import training_instance_types

RULE = "QM103"


def of(count: int) -> dict[str, object]:
    limits = dict.fromkeys(training_instance_types()[:count], 1)
    return shares(production=share("RESERVE"), mixed={"capacity": limits})


@pytest.mark.parametrize("count", [1, 5])
def test_one_to_five_instance_types_are_allowed(count: int):
    assert found(RULE, of(count)) == []


@pytest.mark.parametrize(("count", "shown"), [(0, "no"), (6, "6")])
def test_none_or_more_are_reported_for_each_share(count: int, shown: str):
    message = f"share 'mixed' has {shown} capacity limits; AWS expects 1 to 5"
    assert found(RULE, of(count)) == [(share_path("mixed", "capacity"), message)]
