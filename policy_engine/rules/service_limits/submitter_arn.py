"""QM118: the ARNs of submitters."""

import re
from collections.abc import Iterator, Mapping

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule, team_path
from policy_engine.topology.model import Topology

_PARTITION = r"aws(?:-[a-z]+)*"
_ACCOUNT = r"[0-9]{12}"
_NAME = r"[A-Za-z0-9_+=,.@-]{1,64}"
_PATH = r"(?:[!-~]{1,510}/)?"
_ROLE_OR_USER = re.compile(rf"arn:{_PARTITION}:iam::{_ACCOUNT}:(?:role|user)/{_PATH}{_NAME}", re.ASCII)
_ARN = re.compile(
    r"arn:(?P<partition>[^:]*):(?P<service>[^:]*):(?P<region>[^:]*):(?P<account>[^:]*):(?P<rest>.*)", re.S
)
_SESSION = re.compile(rf"arn:({_PARTITION}):sts::({_ACCOUNT}):assumed-role/({_NAME})(?:/.*)?", re.ASCII)
_WRITE_ARN = "write it as arn:aws:iam::111122223333:role/NAME"
_OTHER_IDENTITIES: Mapping[str, tuple[str, str]] = {
    "group": ("a group, which is no principal", "name its users, or a role that they assume"),
    "root": ("a whole account", "name the roles or users that submit"),
    "instance-profile": ("an instance profile", "name its role"),
    "policy": ("a policy", "name the role or user that it is attached to"),
    "oidc-provider": ("an identity provider", "name the role that its users assume"),
    "saml-provider": ("an identity provider", "name the role that its users assume"),
    "mfa": ("an MFA device", "name its user"),
    "federated-user": ("a federated user's session", "name the IAM user that it belongs to"),
}


class SubmitterArn(TopologyRule):
    """Submitter that is not the ARN of an IAM role or user.

    ## What it checks

    That each of a team's `submitters` is the ARN of an IAM role or user. Refused are wildcards, groups, whole accounts,
    services, and the sessions of assumed roles, for which the role itself is meant.

    ## Why it matters

    AWS Batch has no resource-based policies, so access to a quota share is a policy that is attached to an identity. A
    wildcard or a session has none, a group is no principal, and a whole account is more than a team.

    ## Example

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:sts::111122223333:assumed-role/search-data-science/alice
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:iam::111122223333:role/search-data-science
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [How AWS Batch works with
      IAM](https://docs.aws.amazon.com/batch/latest/userguide/security_iam_service-with-iam.html): identity-based
      policies, no resource-based ones.
    - Documented: [IAM identifiers](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html): the
      form of ARNs.
    - Documented:
      [Principal](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html): what is
      a principal; groups are not.
    """

    id = "QM118"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each submitter that is something else."""
        for name, team in topology.teams.items():
            for index, arn in enumerate(team.submitters):
                if _ROLE_OR_USER.fullmatch(arn) is None:
                    wrong, mend = _explained(arn)
                    message = f"submitter {described(arn)} of team {described(name)} is {wrong}"
                    yield Problem((*team_path(name), "submitters", index), message, mend)


def _explained(arn: str) -> tuple[str, str]:
    """What is wrong with an ARN that is not a role's or a user's, and how to mend it."""
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
    return ("no ARN", _WRITE_ARN) if parts is None else _explained_parts(parts)


def _explained_parts(parts: re.Match[str]) -> tuple[str, str]:
    """The same for what has the parts of an ARN."""
    kind, _, name = parts["rest"].partition("/")
    if parts["service"] in {"iam", "sts"} and kind in _OTHER_IDENTITIES:
        return _OTHER_IDENTITIES[kind]
    if parts["service"] != "iam" or kind not in {"role", "user"}:
        return "not the ARN of an IAM role or user", _WRITE_ARN
    if re.fullmatch(_PARTITION, parts["partition"]) is None or parts["region"]:
        return "an IAM ARN with another start than arn:aws:iam::", "IAM's ARNs have a partition and no Region"
    if re.fullmatch(_ACCOUNT, parts["account"]) is None:
        return f"an ARN with the account {described(parts['account'])}", "write the account's 12 digits"
    allowed = "names have 1 to 64 letters, digits and _+=,.@-, after a path or none"
    return f"an ARN with the {kind} name {described(name)}, which IAM does not allow", allowed
