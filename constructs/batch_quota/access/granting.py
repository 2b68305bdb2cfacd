"""Giving statements to a principal, the CDK's way."""

from collections.abc import Iterable
from typing import Protocol

from aws_cdk import Annotations, IResource
from aws_cdk import aws_iam as iam
from constructs import IConstruct

from batch_quota.access.statements import QueueArns, Statement
from batch_quota.validation import is_token
from policy_engine.topology.identities import identity

IDENTITY_CENTER = "batch-quota:identity-center"
"""Id of the warning about a principal that takes no policy."""


class _Queue(IResource, Protocol):
    @property
    def job_queue_arn(self) -> str: ...


def queue_arns(queue: _Queue) -> QueueArns:
    """What statements say of a job queue."""
    return QueueArns(job_queue_arn=queue.job_queue_arn, service_jobs_arn=service_jobs_arn(queue))


def service_jobs_arn(resource: IResource) -> str:
    """All service jobs of a resource's account and Region. Their ids are given when they are submitted."""
    return resource.stack.format_arn(
        service="batch",
        region=resource.env.region,
        account=resource.env.account,
        resource="service-job",
        resource_name="*",
    )


def grant(scope: IConstruct, grantee: iam.IGrantable, statements: Iterable[Statement]) -> iam.Grant:
    """Add statements to the principal's policy.

    A role of IAM Identity Center would fail the deployment, so it gets a warning in place of a policy; the grant then
    has no `success`.
    """
    arn = getattr(grantee, "role_arn", None)
    role = identity(arn) if isinstance(arn, str) and not is_token(arn) else None
    if role is not None and role.is_of_identity_center:
        Annotations.of(scope).add_warning_v2(
            IDENTITY_CENTER,
            f"{role.name} belongs to IAM Identity Center, so no policy can be attached to it and it gets no access. "
            f"Grant to an iam.ManagedPolicy with a name of its own, and add that name to the permission set "
            f"{role.permission_set} as a customer managed policy.",
        )
        return iam.Grant.drop(grantee, "the role belongs to IAM Identity Center")
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
