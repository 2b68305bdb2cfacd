"""What AWS calls the reasons for which a job is stuck in RUNNABLE, and the texts that it shows meanwhile.

Source: "Service job stuck in RUNNABLE" in the AWS Batch user guide, and its page on misconfiguration.
"""

INSUFFICIENT_INSTANCE_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
SERVICE_ENVIRONMENT_MAX_RESOURCE = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
QUOTA_MANAGEMENT_LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"

NO_INSTANCES = f"{INSUFFICIENT_INSTANCE_CAPACITY} - Unable to provision requested compute resources"
"""Shown for a job that SageMaker has no instances for, until it is dispatched again."""

ABOVE_ENVIRONMENT = (
    f"{SERVICE_ENVIRONMENT_MAX_RESOURCE} - Service environment(s) associated with the job queue cannot meet the "
    "capacity requirement of the job."
)
ABOVE_LIMIT = f"{QUOTA_MANAGEMENT_LIMIT_EXCEEDED} - Job requirements exceed quota share capacity limits."
ABOVE_BORROW_LIMIT = (
    f"{QUOTA_MANAGEMENT_LIMIT_EXCEEDED} - Job requirements exceed quota share capacity limits and borrow limits."
)
ABOVE_BORROWABLE = (
    f"{QUOTA_MANAGEMENT_LIMIT_EXCEEDED} - Job requires borrowing that exceeds all configured borrowable capacity."
)
"""Shown for a job that can never run, by the first test that it fails."""
