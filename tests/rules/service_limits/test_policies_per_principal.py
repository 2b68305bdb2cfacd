import pytest
from topology_fragments import findings_of, found, share

RULE = "QM120"
ON_CALL = "arn:aws:iam::111122223333:role/on-call"
SSO = "arn:aws:iam::111122223333:role/AWSReservedSSO_ds_0123456789abcdef"


def of(count: int, **named: object) -> dict[str, object]:
    """As many teams that name the same."""
    return {"teams": {f"t{number}": {**named, "shares": {f"s{number}": share("RESERVE")}} for number in range(count)}}


@pytest.mark.parametrize(("key", "teams"), [("operators", 3), ("submitters", 5), ("viewers", 10)])
def test_ten_policies_are_allowed(key: str, teams: int):
    assert found(RULE, of(teams, **{key: [ON_CALL]})) == []


@pytest.mark.parametrize(
    ("key", "teams", "policies"), [("operators", 4, 12), ("submitters", 6, 12), ("viewers", 11, 11)]
)
def test_more_are_reported_once_where_the_principal_is_named_last(key: str, teams: int, policies: int):
    assert found(RULE, of(teams, **{key: [ON_CALL]})) == [
        (
            ("teams", f"t{teams - 1}", key, 0),
            f"role 'on-call' needs {policies} managed policies, and IAM attaches 10 to one, unless the quota is raised",
        )
    ]


def test_what_a_team_gives_twice_counts_once_and_users_count_too():
    user = "arn:aws:iam::111122223333:user/alice"
    assert found(RULE, of(3, submitters=[user, user], operators=[user], viewers=[user])) == []
    (finding,) = findings_of(RULE, of(4, submitters=[user], operators=[user]))
    assert finding.message.startswith("user 'alice' needs 12")


def test_roles_of_identity_center_and_teams_without_shares_do_not_count():
    assert found(RULE, of(9, operators=[SSO])) == []
    idle = {f"idle{number}": {"operators": [ON_CALL], "shares": {}} for number in range(9)}
    fragment = of(3, operators=[ON_CALL])
    teams = fragment["teams"]
    assert isinstance(teams, dict)
    assert found(RULE, {"teams": {**teams, **idle}}) == []
