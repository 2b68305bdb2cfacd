"""QM601: policies that let their principals submit to every share."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import AccessRule, Problem

if TYPE_CHECKING:
    from policy_engine.template import AccessStatement

_SUBMIT = "batch:submitservicejob"
_SHARE = "job-queue/q/quota-share/s"


class EveryShare(AccessRule):
    """Policy that lets its principals submit to every quota share.

    ## What it checks

    That no statement which allows `batch:SubmitServiceJob`, by its name or by a wildcard such as `batch:*`, has a
    resource whose `*` covers quota shares: `*`, `job-queue/*`, `job-queue/ml-*`, `job-queue/ml-queue*`,
    `job-queue/ml-queue/quota-share/*`. Statements with a condition on `aws:ResourceTag` are left alone, and
    administrators' `"Action": "*"`. Managed policies of AWS, such as AWSBatchFullAccess, are not looked into.

    ## Why it matters

    The ARN of a quota share starts with that of its queue, and `*` stands for slashes too. A pattern that looks like
    queues covers all shares of these queues: its principals can use the capacity of every team, and preempt its jobs.
    No condition key tells shares apart.

    ## Example

    ```yaml
    Resources:
      Submit:
        Type: AWS::IAM::ManagedPolicy
        Properties:
          PolicyDocument:
            Statement:
              Effect: Allow
              Action: batch:SubmitServiceJob
              Resource:
                - !Sub "arn:aws:batch:*:${AWS::AccountId}:job-queue/ml-*"
                - !Sub "arn:aws:batch:*:${AWS::AccountId}:service-job/*"
    ```

    ## Use instead

    The queue and the share, each exactly; in a CDK app `QuotaShare.grant_submit` writes it. Who may submit to every
    share acknowledges the finding in synth, with the reason.

    ```yaml
    Resources:
      Submit:
        Type: AWS::IAM::ManagedPolicy
        Properties:
          PolicyDocument:
            Statement:
              Effect: Allow
              Action: batch:SubmitServiceJob
              Resource:
                - !GetAtt Queue.JobQueueArn
                - !GetAtt Search.QuotaShareArn
                - !Sub "arn:aws:batch:*:${AWS::AccountId}:service-job/*"
    ```

    ## References

    - Documented: [actions, resources and condition keys for AWS
      Batch](https://docs.aws.amazon.com/service-authorization/latest/reference/list_batch.html): the ARNs of queues
      and quota shares, and the resources of SubmitServiceJob.
    - Documented: [IAM JSON policy elements:
      Resource](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_resource.html): a
      wildcard stands for any combination of characters.
    - Inferred: a submission is authorized for the share that it names, since shares are resources of it.
    """

    id = "QM601"
    severity = Severity.WARNING

    def problems(self, statement: "AccessStatement") -> Iterator[Problem]:
        """Each resource that covers shares by a wildcard."""
        if not any(_allows_submitting(action) for action in statement.actions):
            return
        if any(key.lower().startswith("aws:resourcetag/") for key in statement.condition_keys):
            return
        for resource in statement.resources:
            if covers_shares(resource.text):
                yield Problem(
                    resource.place.path,
                    f"{described(resource.text)} lets its principals submit to every quota share that it covers: "
                    "* stands for slashes too",
                    "name the queue and its share exactly, as grant_submit of a QuotaShare does",
                )


def covers_shares(pattern: str) -> bool:
    """Whether a wildcard of a resource covers quota shares of any name."""
    # Imported here: every check of a topology looks at the rules, and few read templates.
    from policy_engine.template.statements import UNKNOWN

    if pattern.startswith(UNKNOWN):
        return False
    *fields, resource = pattern.split(":", 5)
    if len(fields) < 5:
        # What ends with a wildcard goes on over the fields that are left out.
        service = [*fields, resource][2:3]
        return pattern.endswith("*") and (not service or _matches(service[0], "batch"))
    if not _matches(fields[2], "batch"):
        return False
    _, queue, name = resource.partition("job-queue/")
    if not queue:
        return _matches(resource, _SHARE)
    _, share, name_of_share = name.partition("/quota-share/")
    return name_of_share == "*" if share else "*" in name


def _allows_submitting(action: str) -> bool:
    return action.lower().startswith("batch:") and _matches(action.lower(), _SUBMIT)


def _matches(pattern: str, text: str) -> bool:
    parts = ({"*": ".*", "?": "."}.get(part, re.escape(part)) for part in re.split(r"([*?])", pattern))
    return re.fullmatch("".join(parts), text) is not None
