"""AWS Batch's limits for quota management that a topology can run into. Schema and rules both take them from here.

Sources: "AWS Batch service quotas" and "Quota shares" in the AWS Batch user guide; CreateServiceEnvironment,
CreateQuotaShare, CreateJobQueue and JobStateTimeLimitAction in the AWS Batch API reference.
"""

from policy_engine.topology.status_reasons import (
    INSUFFICIENT_INSTANCE_CAPACITY,
    QUOTA_MANAGEMENT_LIMIT_EXCEEDED,
    SERVICE_ENVIRONMENT_MAX_RESOURCE,
)

MAX_QUOTA_SHARES = 20
"""Quota shares of one job queue. AWS does not raise it."""
MAX_CAPACITY_LIMITS = 5
"""Capacity limits of a quota share, and of a service environment with quota management."""
MAX_NAME_LENGTH = 128
NAME_CHARACTERS = "A-Za-z0-9_-"
"""Of the names of quota shares, queues, service environments and scheduling policies."""
MAX_QUEUE_PRIORITY = 1000
MAX_SCHEDULING_PRIORITY = 9999
MIN_TIME_LIMIT_SECONDS = 600
MAX_TIME_LIMIT_SECONDS = 86_400
TIME_LIMIT_REASONS = (
    INSUFFICIENT_INSTANCE_CAPACITY,
    SERVICE_ENVIRONMENT_MAX_RESOURCE,
    QUOTA_MANAGEMENT_LIMIT_EXCEEDED,
)
"""Reasons that a RUNNABLE time-limit action of a SageMaker Training queue can name."""
MAX_TAGS = 50
MAX_TAG_KEY_LENGTH = 128
MAX_TAG_VALUE_LENGTH = 256
MAX_MANAGED_POLICIES = 10
"""Managed policies of an IAM role or user, unless AWS has raised the account's quota (IAM and AWS STS quotas)."""
