import pytest
from topology_fragments import G5, P5, findings_of, found, share, share_path, shares

RULE = "QM304"


@pytest.mark.parametrize("lender", ["LEND", "LEND_AND_BORROW"])
def test_a_borrower_with_a_lender_is_allowed(lender: str):
    assert found(RULE, shares(background=share("LEND_AND_BORROW", 2), production=share(lender))) == []


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"production": share("RESERVE")},
        {"large": share("LEND", 4, P5)},
        {"empty": share("LEND", 0)},
    ],
    ids=["alone", "beside RESERVE", "beside a lender of another type", "beside a lender of nothing"],
)
def test_a_borrower_without_is_reported_at_its_strategy(others: dict[str, dict[str, object]]):
    fragment = shares(background=share("LEND_AND_BORROW", 2), **others)
    assert found(RULE, fragment) == [
        (
            share_path("background", "strategy"),
            "share 'background' may borrow, but no other share lends ml.g5.xlarge",
        )
    ]


def test_the_types_without_a_lender_are_named_and_a_strategy_is_proposed_only_if_there_is_none_with_one():
    mixed = {"capacity": {G5: 2, P5: 2}, "strategy": "LEND_AND_BORROW"}
    (partly,) = findings_of(RULE, shares(mixed=mixed, production=share("LEND")))
    assert partly.message == "share 'mixed' may borrow, but no other share lends ml.p5.48xlarge"
    assert partly.help == "let another share lend (LEND or LEND_AND_BORROW)"
    (wholly,) = findings_of(RULE, shares(mixed=mixed))
    assert wholly.message == "share 'mixed' may borrow, but no other share lends ml.g5.xlarge and ml.p5.48xlarge"
    assert wholly.help == "let another share lend (LEND or LEND_AND_BORROW), or write strategy: RESERVE"


@pytest.mark.parametrize("limit", [0, 10])
def test_a_borrow_limit_of_nothing_is_another_rules(limit: int):
    assert found(RULE, shares(background=share("LEND_AND_BORROW", 2, borrow_limit=limit))) == []


def test_capacity_of_nobody_can_be_borrowed_only_if_the_topology_assumes_so():
    fragment = {"capacity": {G5: 8}} | shares(background=share("LEND_AND_BORROW", 2))
    assert len(found(RULE, fragment)) == 1
    assert found(RULE, fragment | {"assumptions": {"unallocated_capacity": "borrowable"}}) == []
