"""Giving statements to a principal, the CDK's way."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from aws_cdk import Annotations, IResource, Resource, Stack
from aws_cdk import aws_iam as iam
from constructs import IConstruct, Node

from batch_quota.access.statements import QueueArns, Statement
from batch_quota.validation import is_token
from policy_engine.topology.identities import identity

IDENTITY_CENTER = "batch-quota:identity-center"
"""Id of the warning about a principal that takes no policy."""
OTHER_ACCOUNT = "batch-quota:other-account"
"""Id of the warning about principals that are not of the account of what is granted."""
NO_POLICY = "batch-quota:no-policy"
"""Id of the warning about principals that take no policy, such as services and accounts."""


class _Queue(IResource, Protocol):
    @property
    def job_queue_arn(self) -> str: ...


def queue_arns(queue: _Queue) -> QueueArns:
    """What statements say of a job queue."""
    return QueueArns(job_queue_arn=queue.job_queue_arn, service_jobs_arn=service_jobs_arn(queue))


def service_jobs_arn(resource: IResource) -> str:
    """All service jobs of a resource's account and Region. Their ids are given when they are submitted."""
    environment = resource.env
    return resource.stack.format_arn(
        service="batch",
        region=environment.region,
        account=environment.account,
        resource="service-job",
        resource_name="*",
    )


def grant(scope: IConstruct, grantee: iam.IGrantable, statements: Iterable[Statement]) -> iam.Grant:
    """Add statements to the principal's policy.

    Nobody gets access whose policies cannot be changed here: a role of IAM Identity Center, which would fail the
    deployment; what is of another account than the resource, since Batch has no policies of its own; and what takes no
    policies at all, such as a service. Each gets a warning instead, and the grant has no `success`.
    """
    problem = _problem(_account_of(scope), grantee)
    if problem is not None:
        return _refused(scope, grantee, problem)
    given = [
        iam.Grant.add_to_principal(
            grantee=grantee,
            actions=statement.actions,
            resource_arns=statement.resources,
            conditions=statement.conditions,
        )
        for statement in statements
    ]
    first, *others = given
    if not first.success:
        return _refused(scope, grantee, _takes_no_policy(grantee))
    for other in others:
        first = first.combine(other)
    return first


class _Problem(NamedTuple):
    """Why a principal gets no access."""

    warning_id: str
    why: str
    mend: str


def _refused(scope: IConstruct, grantee: iam.IGrantable, problem: _Problem) -> iam.Grant:
    Annotations.of(scope).add_warning_v2(problem.warning_id, f"{problem.why}, so it gets no access. {problem.mend}")
    return iam.Grant.drop(grantee, problem.why)


def _account_of(scope: IConstruct) -> str:
    """The account of a resource, which may be imported, or of what a construct makes."""
    return scope.env.account if isinstance(scope, Resource) else Stack.of(scope).account


def _problem(account: str, grantee: iam.IGrantable) -> _Problem | None:
    principal = grantee.grant_principal
    arn = getattr(principal, "role_arn", None)
    role = identity(arn) if isinstance(arn, str) and not is_token(arn) else None
    if role is not None and role.is_of_identity_center:
        return _Problem(
            IDENTITY_CENTER,
            f"{role.name} belongs to IAM Identity Center: no policy can be attached to it",
            "Grant to an iam.ManagedPolicy with a name of its own, and add that name to the permission set "
            f"{role.permission_set} as a customer managed policy.",
        )
    # CDK's UnknownPrincipal has no such attribute.
    principal_account = getattr(principal, "principal_account", None)
    if principal_account is None or is_token(principal_account) or is_token(account) or principal_account == account:
        return None
    who = f"{_called(grantee)} of account {principal_account}" if role is None else arn
    return _Problem(
        OTHER_ACCOUNT,
        f"{who} is not of account {account}, and AWS Batch has no policies of its own",
        f"Grant to a role of account {account}, and let the other one assume it.",
    )


def _takes_no_policy(grantee: iam.IGrantable) -> _Problem:
    return _Problem(
        NO_POLICY,
        f"{_called(grantee)} takes no policies, and AWS Batch has none of its own",
        "Grant to a role, a user, a group or a managed policy. One that exists is taken by its ARN or name, as with "
        "iam.Role.from_role_arn.",
    )


def _called(grantee: iam.IGrantable) -> str:
    """The path of a construct, or the class of what is none, such as ArnPrincipal."""
    node = getattr(grantee, "node", None)
    return node.path if isinstance(node, Node) else type(grantee).__name__
