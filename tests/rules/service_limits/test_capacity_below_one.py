import pytest
from topology_fragments import G5, P5, found, share, share_path, shares

RULE = "QM106"


@pytest.mark.parametrize("count", [1, 2, 2**31 - 1])
def test_one_or_more_is_allowed(count: int):
    assert found(RULE, {"capacity": {G5: count}} | shares(production=share("RESERVE", count))) == []


@pytest.mark.parametrize("count", [0, -1, -(2**31)])
def test_less_is_reported_for_the_environment_and_for_each_share(count: int):
    fragment = {"capacity": {G5: count, P5: 1}} | shares(production=share("RESERVE", count))
    message = f"has a capacity limit of {count} for 'ml.g5.xlarge'; AWS expects at least 1"
    assert found(RULE, fragment) == [
        (("capacity", G5), f"the environment {message}"),
        (share_path("production", "capacity", G5), f"share 'production' {message}"),
    ]


def test_the_largest_job_is_no_capacity_limit():
    assert found(RULE, shares(production=share("RESERVE", largest_job={G5: 0}))) == []
