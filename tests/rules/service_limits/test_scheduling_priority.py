import pytest
from topology_fragments import found, share, share_path, shares

RULE = "QM111"


@pytest.mark.parametrize("priority", [None, 0, 9999])
def test_0_to_9999_is_allowed(priority: int | None):
    assert found(RULE, shares(production=share("RESERVE", max_priority=priority))) == []


@pytest.mark.parametrize("priority", [-1, 10_000])
def test_others_are_reported(priority: int):
    message = f"share 'production' allows priorities up to {priority}; AWS expects 0 to 9999"
    fragment = shares(production=share("RESERVE", max_priority=priority))
    assert found(RULE, fragment) == [(share_path("production", "max_priority"), message)]
