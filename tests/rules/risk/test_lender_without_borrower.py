import pytest
from topology_fragments import G5, P5, findings_of, found, share, share_path, shares

RULE = "QM305"


def test_a_lender_with_a_borrower_is_allowed():
    assert found(RULE, shares(production=share("LEND"), background=share("LEND_AND_BORROW", 2))) == []


def test_a_borrower_that_lends_to_nobody_is_not_reported_since_no_strategy_only_borrows():
    assert found(RULE, shares(background=share("LEND_AND_BORROW"), production=share("RESERVE"))) == []


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"vision": share("RESERVE")},
        {"vision": share("LEND_AND_BORROW", 4, P5)},
        {"vision": share("LEND_AND_BORROW", borrow_limit=0)},
        {"vision": share("LEND_AND_BORROW", 1, borrow_limit=50)},
    ],
    ids=["alone", "beside RESERVE", "beside a borrower of another type", "of nothing", "of half an instance"],
)
def test_a_lender_without_is_reported_at_its_strategy(others: dict[str, dict[str, object]]):
    (finding,) = findings_of(RULE, shares(production=share("LEND"), **others))
    assert finding.path == share_path("production", "strategy")
    assert finding.message == "share 'production' lends, but no other share may borrow ml.g5.xlarge"
    assert finding.help == (
        "let another share with a limit for ml.g5.xlarge borrow (LEND_AND_BORROW), or write strategy: RESERVE"
    )


def test_only_the_types_without_a_borrower_are_named():
    mixed = {"capacity": {G5: 2, P5: 2}, "strategy": "LEND"}
    (finding,) = findings_of(RULE, shares(mixed=mixed, background=share("LEND_AND_BORROW")))
    assert finding.message == "share 'mixed' lends, but no other share may borrow ml.p5.48xlarge"
    assert "RESERVE" not in finding.help
