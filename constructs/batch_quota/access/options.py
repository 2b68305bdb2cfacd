"""What becomes of the principals and roles that a topology names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from aws_cdk import aws_iam as iam

from batch_quota.access.statements import JobTag


@dataclass(frozen=True, kw_only=True, slots=True)
class AccessOptions:
    """What becomes of the principals and roles that a topology names. The defaults attach policies to them."""

    job_tag: str = JobTag.REQUIRED
    """A JobTag: whether a job needs the tag `batch-quota:quota-share` to be submitted."""

    execution_roles: Mapping[str, Sequence[iam.IRole]] = field(default_factory=dict)
    """By team, roles that its submitters may pass to their training jobs, beside those that the topology names."""

    managed_policy_name_prefix: str | None = None
    """Starts the names of the policies: PREFIX-TOPOLOGY-TEAM-submit, -operate and -view. CloudFormation makes names up
    if it is left out. A permission set of IAM Identity Center needs the same names in every account. IAM's names are
    unique in an account, whatever the Region: the same topology in a second Region needs another prefix."""
