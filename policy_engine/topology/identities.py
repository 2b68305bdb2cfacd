"""Who a topology names: IAM roles and users by their ARNs, and what a team lets each of them do."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from policy_engine.topology.model import Team

_PARTITION = r"aws(?:-[a-z]+)*"
_ACCOUNT = r"[0-9]{12}"
_NAME = r"[A-Za-z0-9_+=,.@-]{1,64}"
_PATH = r"/(?:[!-~]{1,510}/)?"
_ROLE_OR_USER = re.compile(
    rf"arn:(?P<partition>{_PARTITION}):iam::(?P<account>{_ACCOUNT}):(?P<kind>role|user)(?P<path>{_PATH})(?P<name>{_NAME})",
    re.ASCII,
)
_IDENTITY_CENTER_PATH = "/aws-reserved/sso.amazonaws.com/"
_IDENTITY_CENTER_NAME = re.compile(r"AWSReservedSSO_(?P<permission_set>.+)_[0-9a-f]{16}")
_SERVICE_LINKED_PATH = "/aws-service-role/"

PRINCIPAL_KEYS = ("submitters", "operators", "viewers")
"""The keys of a team that name principals."""


class Identity(NamedTuple):
    """An IAM role or user, taken apart. `path` starts and ends with a slash."""

    partition: str
    account: str
    kind: str
    path: str
    name: str

    @property
    def is_role(self) -> bool:
        """Whether it is a role, and not a user."""
        return self.kind == "role"

    @property
    def is_service_linked(self) -> bool:
        """Whether the role belongs to an AWS service, so that nobody can pass it."""
        return self.path.startswith(_SERVICE_LINKED_PATH)

    @property
    def is_of_identity_center(self) -> bool:
        """Whether IAM Identity Center owns the role. Only a permission set can change its policies.

        Source: "Cannot perform the operation on the protected role" in AWS re:Post's knowledge center.
        """
        return self.path.startswith(_IDENTITY_CENTER_PATH) or self.name.startswith("AWSReservedSSO_")

    @property
    def permission_set(self) -> str:
        """Name of the permission set that a role of IAM Identity Center comes from, as far as its name tells."""
        match = _IDENTITY_CENTER_NAME.fullmatch(self.name)
        return self.name if match is None else match["permission_set"]


def identity(arn: str) -> Identity | None:
    """The role or user that an ARN names, or None if it is the ARN of something else, or no ARN."""
    match = _ROLE_OR_USER.fullmatch(arn)
    return None if match is None else Identity(**match.groupdict())


def principals(team: Team) -> Iterator[tuple[str, int, str]]:
    """Each principal of a team: the key that names it, its place in that list, its ARN."""
    for key in PRINCIPAL_KEYS:
        arns: tuple[str, ...] = getattr(team, key)
        for index, arn in enumerate(arns):
            yield key, index, arn


def may_submit(team: Team) -> tuple[str, ...]:
    """ARNs of who may submit to a team's shares, each once: its submitters and its operators."""
    return tuple(dict.fromkeys((*team.submitters, *team.operators)))


def may_operate(team: Team) -> tuple[str, ...]:
    """ARNs of who may change the priority of a team's jobs and terminate them, each once."""
    return tuple(dict.fromkeys(team.operators))


def may_view(team: Team) -> tuple[str, ...]:
    """ARNs of who may read a team's shares and jobs, each once: everybody that the team names."""
    return tuple(dict.fromkeys((*team.submitters, *team.operators, *team.viewers)))
