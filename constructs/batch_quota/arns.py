"""ARNs of quota management's resources: taking names out of them, and refusing what is no such ARN."""

import re
from collections.abc import Iterator

from aws_cdk import Fn

from batch_quota.validation import NAME_PATTERN, is_token

SCHEDULING_POLICY = f"scheduling-policy/{NAME_PATTERN}"
SERVICE_ENVIRONMENT = f"service-environment/{NAME_PATTERN}"
JOB_QUEUE = f"job-queue/{NAME_PATTERN}"
QUOTA_SHARE = f"{JOB_QUEUE}/quota-share/{NAME_PATTERN}"


def arn_problems(prop: str, arn: str, resource: str) -> Iterator[str]:
    """An ARN of the given kind, such as `JOB_QUEUE`. Formats are those of the IAM service authorization reference."""
    if is_token(arn):
        return
    if re.fullmatch(f"arn:aws[a-z-]*:batch:[a-z0-9-]+:[0-9]{{12}}:{resource}", arn) is None:
        shape = resource.replace(NAME_PATTERN, "NAME")
        yield f"{prop}: expected arn:PARTITION:batch:REGION:ACCOUNT:{shape}, not {arn!r}"


def name_in(arn: str, *, after_slash: int = 1) -> str:
    """The part of an ARN after its first (second, …) slash; a CloudFormation expression if the ARN is a token."""
    return Fn.select(after_slash, Fn.split("/", arn))
