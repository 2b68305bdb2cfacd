"""How many quota shares fit into one managed policy."""

import json
from collections.abc import Callable, Iterable, Sequence

from batch_quota.access.statements import QueueArns, ShareTerms, Statement
from batch_quota.validation import is_token

MAX_MANAGED_POLICY_LENGTH = 6144
"""Characters of a managed policy, white space not counted (IAM quotas). Nobody can raise it."""

_LONGEST_START = "arn:aws-iso-b:batch:ap-southeast-2:111122223333:"
_LONGEST_ROLE_ARN = 160
"""Assumed of a role whose ARN is known at deployment only: a name of 64 characters in a path of the same length."""

StatementsOf = Callable[[QueueArns, Sequence[ShareTerms]], Iterable[Statement]]


def document(statements: Iterable[Statement]) -> dict[str, object]:
    """A policy document."""
    return {"Version": "2012-10-17", "Statement": [statement.as_json() for statement in statements]}


def packed(shares: Iterable[ShareTerms], statements_of: StatementsOf) -> list[list[ShareTerms]]:
    """The shares in their order, in as few groups as have statements that fit into a managed policy each.

    A group of one share is never divided. The tags of the shares' jobs must be known, since they tell how long the
    ARNs become.
    """
    groups: list[list[ShareTerms]] = [[]]
    for share in shares:
        if groups[-1] and _length([*groups[-1], share], statements_of) > MAX_MANAGED_POLICY_LENGTH:
            groups.append([])
        groups[-1].append(share)
    return groups


def _length(shares: Sequence[ShareTerms], statements_of: StatementsOf) -> int:
    queue = shares[0].job_tag_value.partition("/")[0]
    arns = QueueArns(
        job_queue_arn=f"{_LONGEST_START}job-queue/{queue}", service_jobs_arn=f"{_LONGEST_START}service-job/*"
    )
    statements = statements_of(arns, [_with_longest_arn(share) for share in shares])
    text = json.dumps(document(map(_with_longest_roles, statements)), separators=(",", ":"))
    return len(text)


def _with_longest_arn(share: ShareTerms) -> ShareTerms:
    resource = f"job-queue/{share.job_tag_value.replace('/', '/quota-share/')}"
    return ShareTerms(
        quota_share_arn=f"{_LONGEST_START}{resource}",
        job_tag_value=share.job_tag_value,
        max_priority=share.max_priority,
    )


def _with_longest_roles(statement: Statement) -> Statement:
    resources = ["r" * _LONGEST_ROLE_ARN if is_token(arn) else arn for arn in statement.resources]
    return Statement(statement.actions, resources, statement.conditions)
