"""What is wrong with a text that should be the ARN of an IAM role or user."""

import re
from collections.abc import Mapping

from policy_engine.diagnostics import described

WRITE_ARN = "write it as arn:aws:iam::111122223333:role/NAME"
_PARTITION = r"aws(?:-[a-z]+)*"
_ACCOUNT = r"[0-9]{12}"
_NAME = r"[A-Za-z0-9_+=,.@-]{1,64}"
_ARN = re.compile(
    r"arn:(?P<partition>[^:]*):(?P<service>[^:]*):(?P<region>[^:]*):(?P<account>[^:]*):(?P<rest>.*)", re.S
)
_SESSION = re.compile(rf"arn:({_PARTITION}):sts::({_ACCOUNT}):assumed-role/({_NAME})(?:/.*)?", re.ASCII)
_OTHER_IDENTITIES: Mapping[str, tuple[str, str]] = {
    "group": ("a group, which is no principal", "name its users, or a role that they assume"),
    "root": ("a whole account", "name the roles or users that are meant"),
    "instance-profile": ("an instance profile", "name its role"),
    "policy": ("a policy", "name the role or user that it is attached to"),
    "oidc-provider": ("an identity provider", "name the role that its users assume"),
    "saml-provider": ("an identity provider", "name the role that its users assume"),
    "mfa": ("an MFA device", "name its user"),
    "federated-user": ("a federated user's session", "name the IAM user that it belongs to"),
}


def explained(arn: str) -> tuple[str, str] | None:
    """What an ARN is that is not a role's or a user's, and how to mend it. None if it is no such thing that IAM has."""
    session = _SESSION.fullmatch(arn)
    if session:
        role = f"arn:{session[1]}:iam::{session[2]}:role/{session[3]}"
        return "the session of an assumed role", f"name the role, with its path if it has one: {role}"
    if "*" in arn or "?" in arn:
        return "a wildcard, which is no identity", "name each role or user"
    if re.fullmatch(_ACCOUNT, arn):
        return _OTHER_IDENTITIES["root"]
    if re.fullmatch(r"[a-z0-9.-]+\.amazonaws\.com(?:\.cn)?", arn):
        return "a service", "name the role that the service assumes"
    parts = _ARN.fullmatch(arn)
    return ("no ARN", WRITE_ARN) if parts is None else _explained_parts(parts)


def _explained_parts(parts: re.Match[str]) -> tuple[str, str] | None:
    """The same for what has the parts of an ARN."""
    kind, _, name = parts["rest"].partition("/")
    if parts["service"] in {"iam", "sts"} and kind in _OTHER_IDENTITIES:
        return _OTHER_IDENTITIES[kind]
    if parts["service"] != "iam" or kind not in {"role", "user"}:
        return None
    if re.fullmatch(_PARTITION, parts["partition"]) is None or parts["region"]:
        return "an IAM ARN with another start than arn:aws:iam::", "IAM's ARNs have a partition and no Region"
    if re.fullmatch(_ACCOUNT, parts["account"]) is None:
        return f"an ARN with the account {described(parts['account'])}", "write the account's 12 digits"
    allowed = "names have 1 to 64 letters, digits and _+=,.@-, after a path or none"
    return f"an ARN with the {kind} name {described(name)}, which IAM does not allow", allowed
