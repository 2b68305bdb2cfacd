"""What the constructs ask of each other: satisfied by ours, by imported resources, and by anybody's own class."""

from typing import Protocol

from aws_cdk import IResource


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


class IQuotaShare(IResource, Protocol):
    """A quota share of a job queue, made here or elsewhere."""

    @property
    def quota_share_arn(self) -> str:
        """ARN of the quota share. It contains the queue's name."""

    @property
    def quota_share_name(self) -> str:
        """Name of the quota share, unique in its queue."""
