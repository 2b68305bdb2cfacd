import pytest

from policy_engine.topology import Team
from policy_engine.topology.identities import identity, may_operate, may_submit, may_view, principals

ACCOUNT = "arn:aws:iam::111122223333"
SSO = f"{ACCOUNT}:role/aws-reserved/sso.amazonaws.com"


def test_a_role_is_taken_apart():
    found = identity("arn:aws-cn:iam::111122223333:role/teams/search/ds+1")
    assert found is not None
    assert found == ("aws-cn", "111122223333", "role", "/teams/search/", "ds+1")
    assert (found.is_role, found.is_service_linked, found.is_of_identity_center) == (True, False, False)


def test_a_user_is_no_role():
    found = identity(f"{ACCOUNT}:user/alice")
    assert found is not None
    assert (found.path, found.name, found.is_role) == ("/", "alice", False)


@pytest.mark.parametrize(
    "arn", ["", "*", f"{ACCOUNT}:root", f"{ACCOUNT}:role/", f"{ACCOUNT}:role/a*", f"{ACCOUNT}:group/a", "arn::::"]
)
def test_what_is_no_role_or_user_is_none(arn: str):
    assert identity(arn) is None


@pytest.mark.parametrize(
    ("arn", "permission_set"),
    [
        (f"{SSO}/eu-west-1/AWSReservedSSO_Data_Science_0123456789abcdef", "Data_Science"),
        (f"{SSO}/AWSReservedSSO_ds_0123456789abcdef", "ds"),
        (f"{ACCOUNT}:role/AWSReservedSSO_ds_0123456789abcdef", "ds"),
        (f"{SSO}/AWSReservedSSO_short", "AWSReservedSSO_short"),
    ],
)
def test_a_role_of_identity_center_tells_its_permission_set(arn: str, permission_set: str):
    found = identity(arn)
    assert found is not None
    assert found.is_of_identity_center
    assert found.permission_set == permission_set


def test_a_service_linked_role_is_known_by_its_path():
    found = identity(f"{ACCOUNT}:role/aws-service-role/batch.amazonaws.com/AWSServiceRoleForBatch")
    assert found is not None
    assert found.is_service_linked


def test_operators_may_do_what_submitters_may_and_all_may_look():
    team = Team(shares={}, submitters=("s", "both"), operators=("o", "both"), viewers=("v", "s"))
    assert may_submit(team) == ("s", "both", "o")
    assert may_operate(team) == ("o", "both")
    assert may_view(team) == ("s", "both", "o", "v")
    assert list(principals(team)) == [
        ("submitters", 0, "s"),
        ("submitters", 1, "both"),
        ("operators", 0, "o"),
        ("operators", 1, "both"),
        ("viewers", 0, "v"),
        ("viewers", 1, "s"),
    ]
