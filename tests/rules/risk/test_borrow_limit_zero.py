import pytest
from topology_fragments import found, share, share_path, shares

RULE = "QM306"


@pytest.mark.parametrize("limit", [None, -1, 1, 100])
def test_other_borrow_limits_are_allowed(limit: int | None):
    assert found(RULE, shares(background=share("LEND_AND_BORROW", borrow_limit=limit))) == []


def test_0_is_reported():
    message = "share 'background' has strategy LEND_AND_BORROW and a borrow limit of 0 %: it never borrows"
    fragment = shares(background=share("LEND_AND_BORROW", borrow_limit=0))
    assert found(RULE, fragment) == [(share_path("background", "borrow_limit"), message)]


@pytest.mark.parametrize("strategy", ["LEND", "RESERVE"])
def test_of_a_share_that_does_not_borrow_it_is_another_rules(strategy: str):
    assert found(RULE, shares(background=share(strategy, borrow_limit=0))) == []
