import pytest
from topology_fragments import found, share

RULE = "QM214"


def of(**arns: list[str]) -> dict[str, object]:
    return {
        "teams": {team: {"submitters": mine, "shares": {team: share("RESERVE")}} for team, mine in arns.items()},
    }


def role(account: str, name: str = "ds") -> str:
    return f"arn:aws:iam::{account}:role/{name}"


def test_submitters_of_one_account_are_allowed_and_what_is_no_role_or_user_does_not_count():
    assert found(RULE, of(search=[role("111122223333")], vision=[role("111122223333", "vision")])) == []
    assert found(RULE, of(search=[role("111122223333"), "444455556666", "arn:aws:iam::444455556666:root"])) == []


def test_the_first_of_each_further_account_is_reported():
    others = [role("444455556666"), role("444455556666", "more"), role("777788889999")]
    problem = "others are of 111122223333; the queue is in one account"
    assert found(RULE, of(search=[role("111122223333"), others[0]], vision=others[1:])) == [
        (
            ("teams", "search", "submitters", 1),
            f"submitter '{others[0]}' of team 'search' is of account 444455556666, {problem}",
        ),
        (
            ("teams", "vision", "submitters", 1),
            f"submitter '{others[2]}' of team 'vision' is of account 777788889999, {problem}",
        ),
    ]


@pytest.mark.parametrize(
    ("key", "noun"), [("operators", "operator"), ("viewers", "viewer"), ("execution_roles", "execution role")]
)
def test_everybody_that_a_team_names_is_looked_at(key: str, noun: str):
    other = role("444455556666")
    team = {"submitters": [role("111122223333")], key: [other], "shares": {"search": share("RESERVE")}}
    ((path, message),) = found(RULE, {"teams": {"search": team}})
    assert path == ("teams", "search", key, 0)
    assert message.startswith(f"{noun} '{other}' of team 'search' is of account 444455556666")
