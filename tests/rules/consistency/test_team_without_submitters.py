from topology_fragments import found, share

RULE = "QM209"
ARNS = ["arn:aws:iam::111122223333:role/ds"]


def team(name: str, submitters: list[str]) -> dict[str, object]:
    return {"submitters": submitters, "shares": {name: share("RESERVE")}}


def test_submitters_of_all_teams_or_of_none_are_allowed():
    assert found(RULE, {"teams": {"a": team("a", ARNS), "b": team("b", ARNS)}}) == []
    assert found(RULE, {"teams": {"a": team("a", []), "b": team("b", [])}}) == []


def test_a_team_without_any_is_reported_beside_others_with_some():
    fragment = {"teams": {"a": team("a", ARNS), "b": team("b", [])}}
    message = "team 'b' has no submitters, while others have: nobody may submit to its shares"
    assert found(RULE, fragment) == [(("teams", "b"), message)]


def test_a_team_without_shares_needs_none():
    assert found(RULE, {"teams": {"a": team("a", ARNS), "b": {"shares": {}}}}) == []


def test_operators_count_since_they_may_submit_too_and_viewers_do_not():
    operated = {"operators": ARNS, "shares": {"b": share("RESERVE")}}
    viewed = {"viewers": ARNS, "shares": {"c": share("RESERVE")}}
    assert found(RULE, {"teams": {"a": team("a", ARNS), "b": operated}}) == []
    assert [path for path, _ in found(RULE, {"teams": {"b": operated, "c": viewed}})] == [("teams", "c")]
