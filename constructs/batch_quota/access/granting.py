"""Giving statements to a principal, the CDK's way."""

from collections.abc import Iterable
from typing import Protocol

from aws_cdk import Annotations, IResource, Stack
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from batch_quota.access.statements import QueueArns, Statement
from batch_quota.validation import is_token
from policy_engine.topology.identities import identity

IDENTITY_CENTER = "batch-quota:identity-center"
"""Id of the warning about a principal that takes no policy."""
OTHER_ACCOUNT = "batch-quota:other-account"
"""Id of the warning about principals that are not of the stack's account."""


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

    A role whose policies nobody here can change gets a warning in place of a policy, and the grant has no `success`:
    one of IAM Identity Center, which would fail the deployment, or one of another account, which would get no access.
    """
    problem = _problem(Stack.of(scope), grantee)
    if problem is not None:
        id_, why, mend = problem
        Annotations.of(scope).add_warning_v2(id_, f"{why}, so it gets no access. {mend}")
        return iam.Grant.drop(grantee, why)
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
    for other in others:
        first = first.combine(other)
    return first


def _problem(stack: Stack, grantee: iam.IGrantable) -> tuple[str, str, str] | None:
    """Why a role takes no policy of this stack: id of the warning, the reason, what to do."""
    arn = getattr(grantee, "role_arn", None)
    role = identity(arn) if isinstance(arn, str) and not is_token(arn) else None
    if role is None:
        return None
    if role.is_of_identity_center:
        return (
            IDENTITY_CENTER,
            f"{role.name} belongs to IAM Identity Center: no policy can be attached to it",
            "Grant to an iam.ManagedPolicy with a name of its own, and add that name to the permission set "
            f"{role.permission_set} as a customer managed policy.",
        )
    if not is_token(stack.account) and role.account != stack.account:
        return (
            OTHER_ACCOUNT,
            f"{arn} is not of account {stack.account}, and AWS Batch has no policies of its own",
            "Grant to a role of this account, and let the other one assume it.",
        )
    return None
