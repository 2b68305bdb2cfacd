from topology_fragments import found, share

RULE = "QM114"


def tags(count: int, start: str = "t") -> dict[str, str]:
    return {f"{start}{index}": "x" for index in range(count)}


def of(team: dict[str, str], own: dict[str, str]) -> dict[str, object]:
    return {"teams": {"search": {"tags": team, "shares": {"prod": share("RESERVE", tags=own)}}}}


def test_50_on_the_queue_are_allowed_and_51_are_not():
    assert found(RULE, {"queue": {"tags": tags(50)}}) == []
    message = "the queue has 51 tags; AWS allows 50 on a resource"
    assert found(RULE, {"queue": {"tags": tags(51)}}) == [(("queue", "tags"), message)]


def test_a_share_has_its_teams_tags_its_own_and_the_teams_name():
    assert found(RULE, of(tags(20, "a"), tags(29, "b"))) == []
    message = "share 'prod' has 51 tags, those of its team and batch-quota:team included; AWS allows 50 on a resource"
    path = ("teams", "search", "shares", "prod", "tags")
    assert found(RULE, of(tags(20, "a"), tags(30, "b"))) == [(path, message)]


def test_a_key_of_both_team_and_share_counts_once():
    assert found(RULE, of(tags(49), tags(49))) == []
    assert found(RULE, of({"batch-quota:team": "x"} | tags(49), {})) == []


def test_a_team_with_too_many_is_reported_once_and_not_for_each_share():
    message = "each share of team 'search' has 51 tags, batch-quota:team included; AWS allows 50 on a resource"
    assert found(RULE, of(tags(50, "a"), tags(3, "b"))) == [(("teams", "search", "tags"), message)]


def test_a_team_without_shares_has_no_resource_to_tag():
    assert found(RULE, {"teams": {"search": {"tags": tags(60), "shares": {}}}}) == []
