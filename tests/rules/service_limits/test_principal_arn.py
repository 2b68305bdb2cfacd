import pytest
from topology_fragments import findings_of, found, share

RULE = "QM118"


def of(*arns: str) -> dict[str, object]:
    return {"teams": {"search": {"submitters": list(arns), "shares": {"prod": share("RESERVE")}}}}


@pytest.mark.parametrize(
    "arn",
    [
        "arn:aws:iam::111122223333:role/search-ds",
        "arn:aws:iam::111122223333:user/alice",
        "arn:aws:iam::111122223333:user/a",
        "arn:aws:iam::111122223333:role/research/gpu/search-ds",
        "arn:aws:iam::111122223333:user/alice+bob=x,y.z@example.com_-",
        f"arn:aws:iam::111122223333:role/{'r' * 64}",
        "arn:aws-cn:iam::111122223333:role/search-ds",
        "arn:aws-us-gov:iam::111122223333:role/search-ds",
        "arn:aws-iso-b:iam::111122223333:role/search-ds",
        "arn:aws:iam::111122223333:role/aws-reserved/sso.amazonaws.com/eu-west-1/AWSReservedSSO_ds_0123456789abcdef",
    ],
)
def test_arns_of_roles_and_users_are_allowed(arn: str):
    assert found(RULE, of(arn)) == []


@pytest.mark.parametrize(
    ("arn", "wrong", "mend"),
    [
        (
            "arn:aws:sts::111122223333:assumed-role/ds/alice",
            "the session of an assumed role",
            "name the role, with its path if it has one: arn:aws:iam::111122223333:role/ds",
        ),
        (
            "arn:aws-cn:sts::111122223333:assumed-role/ds",
            "the session of an assumed role",
            "name the role, with its path if it has one: arn:aws-cn:iam::111122223333:role/ds",
        ),
        ("*", "a wildcard, which is no identity", "name each role or user"),
        ("arn:aws:iam::111122223333:role/*", "a wildcard, which is no identity", "name each role or user"),
        ("arn:aws:iam::111122223333:role/ds-?", "a wildcard, which is no identity", "name each role or user"),
        (
            "arn:aws:iam::111122223333:group/ds",
            "a group, which is no principal",
            "name its users, or a role that they assume",
        ),
        ("arn:aws:iam::111122223333:root", "a whole account", "name the roles or users that are meant"),
        ("111122223333", "a whole account", "name the roles or users that are meant"),
        ("arn:aws:iam::111122223333:instance-profile/ds", "an instance profile", "name its role"),
        (
            "arn:aws:iam::111122223333:policy/ds",
            "a policy",
            "name the role or user that it is attached to",
        ),
        (
            "arn:aws:iam::111122223333:saml-provider/okta",
            "an identity provider",
            "name the role that its users assume",
        ),
        (
            "arn:aws:sts::111122223333:federated-user/alice",
            "a federated user's session",
            "name the IAM user that it belongs to",
        ),
        ("sagemaker.amazonaws.com", "a service", "name the role that the service assumes"),
        (
            "arn:aws:s3:::bucket",
            "not the ARN of an IAM role or user",
            "write it as arn:aws:iam::111122223333:role/NAME",
        ),
        ("alice", "no ARN", "write it as arn:aws:iam::111122223333:role/NAME"),
        ("", "no ARN", "write it as arn:aws:iam::111122223333:role/NAME"),
        (
            "arn:aws:iam::111122223333:roles/ds",
            "not the ARN of an IAM role or user",
            "write it as arn:aws:iam::111122223333:role/NAME",
        ),
        (
            "arn:aws:iam:eu-west-1:111122223333:role/ds",
            "an IAM ARN with another start than arn:aws:iam::",
            "IAM's ARNs have a partition and no Region",
        ),
        (
            "arn:azure:iam::111122223333:role/ds",
            "an IAM ARN with another start than arn:aws:iam::",
            "IAM's ARNs have a partition and no Region",
        ),
        ("arn:aws:iam::1234:role/ds", "an ARN with the account '1234'", "write the account's 12 digits"),
        ("arn:aws:iam:::role/ds", "an ARN with the account ''", "write the account's 12 digits"),
        (
            "arn:aws:iam::１１１１２２２２３３３３:role/ds",
            "an ARN with the account '１１１１２２２２３３３３'",
            "write the account's 12 digits",
        ),
        (
            "arn:aws:iam::111122223333:role/",
            "an ARN with the role name '', which IAM does not allow",
            "names have 1 to 64 letters, digits and _+=,.@-, after a path or none",
        ),
        (
            "arn:aws:iam::111122223333:user/two words",
            "an ARN with the user name 'two words', which IAM does not allow",
            "names have 1 to 64 letters, digits and _+=,.@-, after a path or none",
        ),
        (
            "arn:aws:iam::111122223333:role/ds\n",
            r"an ARN with the role name 'ds\n', which IAM does not allow",
            "names have 1 to 64 letters, digits and _+=,.@-, after a path or none",
        ),
    ],
)
def test_others_are_reported_with_what_they_are_and_what_to_name(arn: str, wrong: str, mend: str):
    (finding,) = findings_of(RULE, of("arn:aws:iam::111122223333:role/ds", arn))
    assert finding.path == ("teams", "search", "submitters", 1)
    assert finding.message == f"submitter {arn!r} of team 'search' is {wrong}"
    assert finding.help == mend


def test_a_name_of_more_than_64_characters_is_reported():
    (finding,) = findings_of(RULE, of(f"arn:aws:iam::111122223333:role/{'r' * 65}"))
    assert "which IAM does not allow" in finding.message


@pytest.mark.parametrize("key", ["operators", "viewers"])
def test_operators_and_viewers_are_looked_at_too(key: str):
    fragment = {"teams": {"search": {key: ["*"], "shares": {"prod": share("RESERVE")}}}}
    message = f"{key[:-1]} '*' of team 'search' is a wildcard, which is no identity"
    assert found(RULE, fragment) == [(("teams", "search", key, 0), message)]
