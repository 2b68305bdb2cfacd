"""Scheduling policies with a quota share policy, beside moto's with a fair share policy."""

from typing import Any

from moto.batch.exceptions import ClientException
from moto.batch.models import SchedulingPolicy

from policy_engine.emulator.batch.exceptions import AlreadyExistsError, NotFoundError
from policy_engine.emulator.batch.models.base import EmulatedBatchBackend
from policy_engine.emulator.batch.paging import page
from policy_engine.emulator.batch.validation import check_name


class QuotaSharePolicy(SchedulingPolicy):
    """A scheduling policy that makes the queue it is attached to a quota-managed one."""

    def __init__(self, name: str, policy: dict[str, Any], backend: EmulatedBatchBackend, tags: dict[str, str]) -> None:
        super().__init__(backend.account_id, backend.region_name, name, {}, backend, tags)
        self.quota_share_policy = policy

    def to_dict(self, create: bool = False) -> dict[str, Any]:  # noqa: FBT001, FBT002 (moto's signature)
        """The answer to CreateSchedulingPolicy, or SchedulingPolicyDetail of the API."""
        described = super().to_dict(create)
        if not create:
            del described["fairsharePolicy"]
            described["quotaSharePolicy"] = self.quota_share_policy
        return described


class SchedulingPolicyBackend(EmulatedBatchBackend):
    """Create-, Describe-, List-, Update- and DeleteSchedulingPolicy."""

    def get_scheduling_policy(self, arn: str) -> SchedulingPolicy:
        """By ARN. Raises NotFoundError."""
        policy = self._scheduling_policies.get(arn)
        if policy is None:
            raise NotFoundError("Scheduling policy", arn)
        return policy

    def create_quota_share_policy(
        self, *, name: str, policy: dict[str, Any] | None, fairshare: object, tags: dict[str, str] | None
    ) -> SchedulingPolicy:
        """Create a policy. `fairshare` is the fair share policy of the request, which excludes `policy`."""
        check_name("name", name)
        if policy is None or fairshare is not None:
            raise ClientException("quotaSharePolicy and fairsharePolicy exclude each other")
        if self.batch_arn(f"scheduling-policy/{name}") in self._scheduling_policies:
            raise AlreadyExistsError
        created = QuotaSharePolicy(name, policy, self, tags or {})
        self._scheduling_policies[created.arn] = created
        return created

    def list_scheduling_policy_arns(
        self, *, max_results: int | None, token: str | None
    ) -> tuple[list[str], str | None]:
        """A page of the ARNs of all policies."""
        numbered = list(enumerate(self.list_scheduling_policies()))
        shown, next_token = page(numbered, lambda entry: entry[0], max_results, token)
        return [arn for _, arn in shown], next_token

    def update_policy(self, *, arn: str, quota_share: dict[str, Any] | None, fairshare: dict[str, Any] | None) -> None:
        """Change a policy, whose type stays what it is."""
        policy = self.get_scheduling_policy(arn)
        is_quota_share = isinstance(policy, QuotaSharePolicy)
        if (quota_share is not None and not is_quota_share) or (fairshare is not None and is_quota_share):
            raise ClientException("the type of a scheduling policy cannot be changed")
        if isinstance(policy, QuotaSharePolicy):
            policy.quota_share_policy = quota_share or policy.quota_share_policy
        elif fairshare is not None:
            self.update_scheduling_policy(arn, fairshare)

    def delete_scheduling_policy(self, arn: str) -> None:
        """Delete a policy."""
        self.get_scheduling_policy(arn)
        super().delete_scheduling_policy(arn)
        self.tagger.delete_all_tags_for_resource(arn)
