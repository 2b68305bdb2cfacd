import pytest
from topology_fragments import G5, P5, found, share, share_path, shares

RULE = "QM205"


@pytest.mark.parametrize("need", [None, {G5: 1}, {G5: 1, P5: 3}])
def test_one_instance_or_more_is_allowed(need: dict[str, int] | None):
    assert found(RULE, shares(production=share("RESERVE", largest_job=need))) == []


def test_no_instances_are_reported():
    path = share_path("production", "largest_job")
    expected = [(path, "the largest job of share 'production' needs no instances")]
    assert found(RULE, shares(production=share("RESERVE", largest_job={}))) == expected


@pytest.mark.parametrize("count", [0, -3])
def test_a_quantity_below_1_is_reported(count: int):
    message = f"the largest job of share 'production' needs {count} of 'ml.g5.xlarge'"
    fragment = shares(production=share("RESERVE", largest_job={P5: 1, G5: count}))
    assert found(RULE, fragment) == [(share_path("production", "largest_job", G5), message)]
