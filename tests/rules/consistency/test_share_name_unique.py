from topology_fragments import found, share

RULE = "QM201"


def of(**shares_by_team: str) -> dict[str, object]:
    return {"teams": {team: {"shares": {name: share("RESERVE")}} for team, name in shares_by_team.items()}}


def test_names_of_their_own_are_allowed_also_that_of_a_team():
    assert found(RULE, of(search="production", vision="search")) == []


def test_each_later_share_of_one_name_is_reported_at_its_name():
    problem = "has the name of a share of team 'search'; they belong to one queue"
    assert found(RULE, of(search="production", vision="production", speech="production")) == [
        (("teams", "vision", "shares", "production"), f"share 'production' of team 'vision' {problem}"),
        (("teams", "speech", "shares", "production"), f"share 'production' of team 'speech' {problem}"),
    ]
