import pytest
from topology_fragments import findings_of, found, share

from policy_engine.diagnostics import described

RULE = "QM119"


def of(*arns: str) -> dict[str, object]:
    return {"teams": {"search": {"execution_roles": list(arns), "shares": {"prod": share("RESERVE")}}}}


@pytest.mark.parametrize("arn", ["arn:aws:iam::111122223333:role/training", "arn:aws-cn:iam::111122223333:role/a/b/c"])
def test_arns_of_roles_are_allowed(arn: str):
    assert found(RULE, of(arn)) == []


@pytest.mark.parametrize(
    ("arn", "wrong"),
    [
        ("*", "a wildcard, which is no identity"),
        ("arn:aws:iam::111122223333:role/*", "a wildcard, which is no identity"),
        ("arn:aws:iam::111122223333:user/alice", "a user, and jobs run as roles"),
        ("arn:aws:iam::111122223333:root", "a whole account"),
        ("sagemaker.amazonaws.com", "a service"),
        ("arn:aws:s3:::bucket", "not the ARN of an IAM role"),
        (
            "arn:aws:iam::111122223333:role/aws-service-role/sagemaker.amazonaws.com/AWSServiceRoleForX",
            "a service-linked role, which only its service uses",
        ),
        (
            "arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/AWSReservedSSO_ds_0123456789abcdef",
            "a role of IAM Identity Center, which trusts no service",
        ),
    ],
)
def test_others_are_reported_with_what_they_are(arn: str, wrong: str):
    (finding,) = findings_of(RULE, of("arn:aws:iam::111122223333:role/training", arn))
    assert finding.path == ("teams", "search", "execution_roles", 1)
    assert finding.message == f"execution role {described(arn)} of team 'search' is {wrong}"
    assert finding.help
