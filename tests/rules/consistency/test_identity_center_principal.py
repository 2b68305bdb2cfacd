import pytest
from topology_fragments import findings_of, found, share

RULE = "QM215"
PATH = "arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com"
OWNED = f"{PATH}/eu-west-1/AWSReservedSSO_Search_DS_0123456789abcdef"


def of(key: str, *arns: str) -> dict[str, object]:
    return {"teams": {"search": {key: list(arns), "shares": {"prod": share("RESERVE")}}}}


def test_roles_and_users_of_ones_own_are_allowed():
    assert found(RULE, of("submitters", "arn:aws:iam::111122223333:role/ds", "arn:aws:iam::111122223333:user/a")) == []


@pytest.mark.parametrize("key", ["submitters", "operators", "viewers"])
@pytest.mark.parametrize("arn", [OWNED, f"{PATH}/AWSReservedSSO_Search_DS_0123456789abcdef"])
def test_a_role_of_identity_center_is_reported_with_its_permission_set(key: str, arn: str):
    (finding,) = findings_of(RULE, of(key, "arn:aws:iam::111122223333:role/ds", arn))
    assert finding.path == ("teams", "search", key, 1)
    assert "'AWSReservedSSO_Search_DS_0123456789abcdef' of team 'search' belongs to IAM Identity Center" in (
        finding.message
    )
    assert "the permission set Search_DS," in finding.help


def test_it_can_be_accepted_since_the_policies_are_made_all_the_same():
    accepted = {"suppressions": [{"rule": RULE, "at": "search", "reason": "Named in the permission set."}]}
    assert found(RULE, of("submitters", OWNED) | accepted) == []
