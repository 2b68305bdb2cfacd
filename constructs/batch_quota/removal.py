"""What becomes of resources that leave their stack, and which of them can only be retained together."""

from collections.abc import Iterable, Iterator
from typing import Protocol

from aws_cdk import CfnResource, IResource, RemovalPolicy

_RETAINING = frozenset({RemovalPolicy.RETAIN, RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE})


class Removable(IResource, Protocol):
    """A resource that is made here, and says what becomes of it."""

    @property
    def removal_policy(self) -> RemovalPolicy | None: ...


def removal_problems(policy: RemovalPolicy | None) -> Iterator[str]:
    """A removal policy that can be: there are no snapshots of quota management's resources."""
    if policy is RemovalPolicy.SNAPSHOT:
        yield "removal_policy: expected DESTROY, RETAIN or RETAIN_ON_UPDATE_OR_DELETE, not SNAPSHOT"


def retained_alone_problems(
    noun: str, policy: RemovalPolicy | None, needed: Iterable[Removable], because: str
) -> Iterator[str]:
    """What a retained resource cannot do without, and what is not retained with it.

    :param noun: What the retained resource is.
    :param needed: The resources that it needs.
    :param because: What happens otherwise.
    """
    if policy in _RETAINING:
        for each in needed:
            if each.removal_policy not in _RETAINING:
                yield f"removal_policy: the {noun} is retained, so {each.node.path} has to be, too: {because}"


def apply(resource: CfnResource, policy: RemovalPolicy | None) -> None:
    """Write the policy into the template. None leaves it to CloudFormation, which deletes."""
    if policy is not None:
        resource.apply_removal_policy(policy)
