import pytest
from topology_fragments import found, share, share_path, shares

RULE = "QM314"


def test_enabled_shares_are_allowed():
    assert found(RULE, shares(production=share("RESERVE", state="ENABLED"))) == []


@pytest.mark.parametrize(
    ("strategy", "use"),
    [
        ("RESERVE", "nobody can use them"),
        ("LEND", "they can only be lent, if a disabled share lends"),
        ("LEND_AND_BORROW", "they can only be lent, if a disabled share lends"),
    ],
)
def test_a_disabled_one_is_reported_with_what_becomes_of_its_instances(strategy: str, use: str):
    message = f"share 'old' is DISABLED and keeps 4 ml.g5.xlarge: once its jobs have ended, {use}"
    fragment = shares(old=share(strategy, state="DISABLED"), production=share("LEND_AND_BORROW"))
    assert found(RULE, fragment) == [(share_path("old", "state"), message)]
