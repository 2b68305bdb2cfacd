import pytest
from topology_fragments import found, share, share_path, shares

RULE = "QM203"


@pytest.mark.parametrize(
    ("strategy", "limit"), [("LEND_AND_BORROW", 100), ("LEND_AND_BORROW", None), ("LEND", None), ("RESERVE", None)]
)
def test_a_borrow_limit_of_a_borrower_and_none_are_allowed(strategy: str, limit: int | None):
    assert found(RULE, shares(background=share(strategy, borrow_limit=limit))) == []


@pytest.mark.parametrize("strategy", ["LEND", "RESERVE"])
@pytest.mark.parametrize("limit", [-1, 0, 100])
def test_any_borrow_limit_of_another_share_is_reported(strategy: str, limit: int):
    message = (
        f"share 'background' has a borrow limit of {limit} %, but a share with strategy {strategy} does not borrow"
    )
    fragment = shares(background=share(strategy, borrow_limit=limit))
    assert found(RULE, fragment) == [(share_path("background", "borrow_limit"), message)]
