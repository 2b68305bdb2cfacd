"""What the constructs ask of each other: satisfied by ours, by imported resources, and by anybody's own class."""

from collections.abc import Sequence
from typing import Protocol

from aws_cdk import IResource
from aws_cdk import aws_iam as iam

from batch_quota.access.statements import JobTag


class IServiceEnvironment(IResource, Protocol):
    """A SageMaker Training service environment, made here or elsewhere."""

    @property
    def service_environment_arn(self) -> str:
        """ARN of the service environment."""

    @property
    def service_environment_name(self) -> str:
        """Name of the service environment."""


class ISageMakerTrainingQueue(IResource, Protocol):
    """A quota-managed SageMaker Training job queue, made here or elsewhere."""

    @property
    def job_queue_arn(self) -> str:
        """ARN of the job queue."""

    @property
    def job_queue_name(self) -> str:
        """Name of the job queue."""

    @property
    def job_tag_prefix(self) -> str:
        """`QUEUE/`, how the tag `batch-quota:quota-share` of all the queue's jobs starts."""

    def grant_operate(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal change the priority of all the queue's jobs, and terminate them."""

    def grant_view(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal read the queue, its quota shares and its jobs."""


class IQuotaShare(IResource, Protocol):
    """A quota share of a job queue, made here or elsewhere."""

    @property
    def quota_share_arn(self) -> str:
        """ARN of the quota share. It contains the queue's name."""

    @property
    def quota_share_name(self) -> str:
        """Name of the quota share, unique in its queue."""

    @property
    def job_tag_value(self) -> str:
        """`QUEUE/SHARE`, what the tag `batch-quota:quota-share` of the share's jobs has to be."""

    def grant_submit(
        self,
        grantee: iam.IGrantable,
        *,
        max_priority: float | None = None,
        execution_roles: Sequence[iam.IRole] = (),
        job_tag: str = JobTag.REQUIRED,
    ) -> iam.Grant:
        """Let a principal submit jobs to the share."""

    def grant_operate(self, grantee: iam.IGrantable, *, max_priority: float | None = None) -> iam.Grant:
        """Let a principal change the priority of the share's jobs, and terminate them."""

    def grant_view(self, grantee: iam.IGrantable) -> iam.Grant:
        """Let a principal read the share, its queue and its jobs."""
