import pytest
from topology_fragments import G5, P5, findings_of, found, share, share_path, shares

RULE = "QM307"


def of(count: int, percent: int | None) -> dict[str, object]:
    return shares(background=share("LEND_AND_BORROW", count, borrow_limit=percent), production=share("LEND"))


@pytest.mark.parametrize(
    ("count", "percent"), [(1, 100), (2, 50), (3, 34), (100, 1), (1, None), (1, -1), (1, 0), (0, 50)]
)
def test_at_least_one_instance_none_and_unlimited_are_allowed(count: int, percent: int | None):
    assert found(RULE, of(count, percent)) == []


@pytest.mark.parametrize(
    ("count", "percent", "amount", "enough"),
    [
        (1, 50, "0.5 of an ml.g5.xlarge (50 % of 1)", 100),
        (1, 99, "0.99 of an ml.g5.xlarge (99 % of 1)", 100),
        (3, 33, "0.99 of an ml.g5.xlarge (33 % of 3)", 34),
        (8, 10, "0.8 of an ml.g5.xlarge (10 % of 8)", 13),
    ],
)
def test_less_is_reported_with_the_fraction_and_the_percentage_that_would_do(
    count: int, percent: int, amount: str, enough: int
):
    (finding,) = findings_of(RULE, of(count, percent))
    assert finding.path == share_path("background", "borrow_limit")
    assert finding.message == f"share 'background' may borrow {amount}, which rounds down to none"
    assert finding.help == f"write borrow_limit: {enough} or more"
    assert found(RULE, of(count, enough)) == []
    assert len(found(RULE, of(count, enough - 1))) == 1


def test_of_several_types_those_of_less_than_one_are_named():
    mixed = {"capacity": {G5: 8, P5: 1}, "strategy": "LEND_AND_BORROW", "borrow_limit": 50}
    ((_, message),) = found(RULE, shares(mixed=mixed))
    assert message == "share 'mixed' may borrow 0.5 of an ml.p5.48xlarge (50 % of 1), which rounds down to none"
