from topology_fragments import found, share

RULE = "QM208"


def test_teams_with_shares_are_allowed():
    assert found(RULE, {"teams": {"search": {"shares": {"prod": share("RESERVE")}}}}) == []


def test_one_without_is_reported_beside_others():
    fragment = {"teams": {"search": {"shares": {"prod": share("RESERVE")}}, "vision": {"shares": {}}}}
    message = "team 'vision' has no quota share, so it can submit nothing"
    assert found(RULE, fragment) == [(("teams", "vision"), message)]
