import re

import pytest
from topology_fragments import G5, P5, findings_of, found, share, share_path, shares

RULE = "QM308"


def of(own: int, percent: int | None, lent: int) -> dict[str, object]:
    borrower = share("LEND_AND_BORROW", own, borrow_limit=percent)
    return shares(background=borrower, production=share("LEND", lent), reserved=share("RESERVE", 100))


@pytest.mark.parametrize(
    ("own", "percent", "lent"), [(4, 100, 4), (4, 50, 4), (4, None, 1), (4, -1, 1), (4, 0, 1), (3, 50, 1)]
)
def test_a_cap_that_can_be_reached_and_none_are_allowed(own: int, percent: int | None, lent: int):
    assert found(RULE, of(own, percent, lent)) == []


@pytest.mark.parametrize(("own", "percent", "lent", "cap"), [(4, 200, 4, 8), (1, 200, 1, 2), (3, 100, 1, 3)])
def test_more_than_all_that_is_lent_is_reported_with_a_percentage_that_reaches_it(
    own: int, percent: int, lent: int, cap: int
):
    (finding,) = findings_of(RULE, of(own, percent, lent))
    assert finding.path == share_path("background", "borrow_limit")
    assert finding.message == (
        f"share 'background' may borrow up to {cap} ml.g5.xlarge, of which the others have {lent} to lend"
    )
    proposed = re.match(r"write borrow_limit: (\d+), or leave it out", finding.help)
    assert proposed
    mended = of(own, int(proposed[1]), lent)
    assert found(RULE, mended) == found("QM307", mended) == []


def test_no_percentage_is_proposed_where_each_is_none_or_too_much():
    (finding,) = findings_of(RULE, of(250, 100, 1))
    assert finding.help == "leave it out, or let other shares lend more"


def test_with_several_types_it_is_reported_only_if_all_are_beyond():
    mixed = {"capacity": {G5: 4, P5: 2}, "strategy": "LEND_AND_BORROW", "borrow_limit": 200}
    lenders = {"small": share("LEND", 4), "large": share("LEND", 4, P5)}
    assert found(RULE, shares(mixed=mixed, **lenders)) == []
    ((_, message),) = found(RULE, shares(mixed=mixed | {"borrow_limit": 300}, **lenders))
    assert message == (
        "share 'mixed' may borrow up to 12 ml.g5.xlarge, of which the others have 4 and "
        "up to 6 ml.p5.48xlarge, of which the others have 4 to lend"
    )


def test_where_nothing_is_lent_it_is_another_rules():
    assert found(RULE, shares(background=share("LEND_AND_BORROW", 4, borrow_limit=200))) == []
