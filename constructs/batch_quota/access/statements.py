"""What submitters, operators and viewers are allowed, as IAM statements. `docs/access.md` explains each of them.

Which actions take which resources and condition keys: "Actions, resources, and condition keys for AWS Batch" in the
service authorization reference. No key names a job's quota share, so a share is told by its ARN where jobs are
submitted, and by a tag of the job where they are changed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from policy_engine.topology.tags import JOB_TAG

SAGEMAKER = "sagemaker.amazonaws.com"
_REQUEST_TAG = f"aws:RequestTag/{JOB_TAG}"
_RESOURCE_TAG = f"aws:ResourceTag/{JOB_TAG}"
_PRIORITY = "batch:SchedulingPriority"

Conditions = Mapping[str, Mapping[str, str | float | Sequence[str]]]


class JobTag(StrEnum):
    """Whether jobs must carry the tag `batch-quota:quota-share`, with the value `QUEUE/SHARE`, when submitted."""

    REQUIRED = "REQUIRED"
    """Without it a submission is denied, so operators can manage every job of their shares."""
    OPTIONAL = "OPTIONAL"
    """It may be left out, and if it is there it must be right. Operators cannot manage jobs without it."""


@dataclass(frozen=True, slots=True)
class Statement:
    """An IAM statement that allows something."""

    actions: Sequence[str]
    resources: Sequence[str]
    conditions: Conditions | None = None

    def as_json(self) -> dict[str, object]:
        """The statement as it stands in a policy document, without what it does not need."""
        document = {"Effect": "Allow", "Action": _one_or_all(self.actions), "Resource": _one_or_all(self.resources)}
        return document | ({"Condition": self.conditions} if self.conditions else {})


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueArns:
    """What statements say of a job queue. `service_jobs_arn` stands for all service jobs of its account and Region."""

    job_queue_arn: str
    service_jobs_arn: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ShareTerms:
    """What statements say of a quota share: its ARN, the value of its jobs' tag, and their highest priority if any."""

    quota_share_arn: str
    job_tag_value: str
    max_priority: float | None = None


def submit_statements(queue: QueueArns, shares: Iterable[ShareTerms], job_tag: str) -> Iterator[Statement]:
    """Submit service jobs to these shares, with a priority up to each share's highest.

    AWS authorizes a submission for the queue, the share and the job together, so the queue's ARN alone allows nothing.
    Shares of one highest priority stand in one statement. With tags, AWS Batch asks for TagResource as well: observed
    for SubmitJob, and what CloudFormation needs to tag Batch's other resources when it makes them.
    """
    same = "StringEqualsIfExists" if job_tag == JobTag.OPTIONAL else "StringEquals"
    for max_priority, group in _by_max_priority(shares):
        tags = _one_or_all([share.job_tag_value for share in group])
        conditions: dict[str, Mapping[str, str | float | Sequence[str]]] = {same: {_REQUEST_TAG: tags}}
        if max_priority is not None:
            # A submission without a priority has no such key.
            conditions["NumericLessThanEqualsIfExists"] = {_PRIORITY: _as_text(max_priority)}
        arns = [share.quota_share_arn for share in group]
        yield Statement(["batch:SubmitServiceJob"], [queue.job_queue_arn, *arns, queue.service_jobs_arn], conditions)
        # The second condition keeps the tag of a job that has one: nobody can take over another share's job.
        yield Statement(
            ["batch:TagResource"],
            [queue.service_jobs_arn],
            {"StringEquals": {_REQUEST_TAG: tags}, "StringEqualsIfExists": {_RESOURCE_TAG: tags}},
        )


def operate_statements(queue: QueueArns, shares: Iterable[ShareTerms]) -> Iterator[Statement]:
    """Change the priority of these shares' jobs, up to each share's highest, and terminate them."""
    tags: list[str] = []
    for max_priority, group in _by_max_priority(shares):
        of_group = [share.job_tag_value for share in group]
        conditions: dict[str, Mapping[str, str | float | Sequence[str]]] = {
            "StringEquals": {_RESOURCE_TAG: _one_or_all(of_group)}
        }
        if max_priority is not None:
            conditions["NumericLessThanEquals"] = {_PRIORITY: _as_text(max_priority)}
        yield Statement(["batch:UpdateServiceJob"], [queue.service_jobs_arn], conditions)
        tags += of_group
    if tags:
        yield Statement(
            ["batch:TerminateServiceJob"],
            [queue.service_jobs_arn],
            {"StringEquals": {_RESOURCE_TAG: _one_or_all(sorted(tags))}},
        )


def operate_queue_statements(queue: QueueArns, job_tag_prefix: str) -> Iterator[Statement]:
    """Change the priority of all jobs with a tag of this queue, to any, and terminate them."""
    yield Statement(
        ["batch:UpdateServiceJob", "batch:TerminateServiceJob"],
        [queue.service_jobs_arn],
        {"StringLike": {_RESOURCE_TAG: f"{job_tag_prefix}*"}},
    )


def view_statements(queue: QueueArns, shares: Iterable[ShareTerms] = ()) -> Iterator[Statement]:
    """Read the queue, how it is used, its shares and its jobs. The last five actions take no resource."""
    yield Statement(["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"], [queue.job_queue_arn])
    arns = [share.quota_share_arn for share in shares]
    if arns:
        yield Statement(["batch:DescribeQuotaShare"], arns)
    yield Statement(
        [
            "batch:DescribeJobQueues",
            "batch:DescribeSchedulingPolicies",
            "batch:DescribeServiceEnvironments",
            "batch:DescribeServiceJob",
            "batch:ListServiceJobs",
        ],
        ["*"],
    )


def pass_role_statements(role_arns: Sequence[str]) -> Iterator[Statement]:
    """Pass these roles to SageMaker, and to no other service."""
    if role_arns:
        yield Statement(["iam:PassRole"], role_arns, {"StringEquals": {"iam:PassedToService": SAGEMAKER}})


def _by_max_priority(shares: Iterable[ShareTerms]) -> Iterator[tuple[float | None, list[ShareTerms]]]:
    """Shares of one highest priority together, in the order in which the first of each comes."""
    groups: dict[float | None, list[ShareTerms]] = {}
    for share in shares:
        groups.setdefault(share.max_priority, []).append(share)
    yield from groups.items()


def _as_text(number: float) -> str | float:
    """As IAM's user guide writes numbers in conditions. A token stays what it is."""
    return str(number) if isinstance(number, int) else number


def _one_or_all(values: Sequence[str]) -> str | Sequence[str]:
    return values[0] if len(values) == 1 else values
