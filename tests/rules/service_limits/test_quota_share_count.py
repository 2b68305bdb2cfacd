import pytest
from topology_fragments import found, share, share_path, shares

RULE = "QM101"


def of(count: int) -> dict[str, object]:
    return shares(**{f"share_{index:02}": share("RESERVE", 1) for index in range(count)})


@pytest.mark.parametrize("count", [1, 19, 20])
def test_up_to_20_shares_are_allowed(count: int):
    assert found(RULE, of(count)) == []


@pytest.mark.parametrize("count", [21, 40])
def test_more_are_reported_once_at_the_first_that_is_too_many(count: int):
    message = f"the queue has {count} quota shares; AWS allows 20, and this is one too many"
    assert found(RULE, of(count)) == [(share_path("share-20"), message)]


def test_shares_of_all_teams_count_together():
    one = share("RESERVE", 1)
    teams = {f"team-{team}": {"shares": {f"share-{team}-{index}": one for index in range(7)}} for team in range(3)}
    ((path, message),) = found(RULE, {"teams": teams})
    assert path == ("teams", "team-2", "shares", "share-2-6")
    assert message.startswith("the queue has 21 quota shares")
