import pytest
from topology_fragments import found, share, share_path, shares

RULE = "QM109"


@pytest.mark.parametrize("limit", [None, -1, 0, 100, 10_000])
def test_minus_1_and_more_is_allowed(limit: int | None):
    assert found(RULE, shares(background=share("LEND_AND_BORROW", borrow_limit=limit))) == []


@pytest.mark.parametrize("limit", [-2, -100])
@pytest.mark.parametrize("strategy", ["LEND_AND_BORROW", "LEND", "RESERVE"])
def test_less_is_reported_whatever_the_strategy(strategy: str, limit: int):
    message = f"share 'background' has a borrow limit of {limit} %; AWS expects 0 or more, or -1 for unlimited"
    fragment = shares(background=share(strategy, borrow_limit=limit))
    assert found(RULE, fragment) == [(share_path("background", "borrow_limit"), message)]
