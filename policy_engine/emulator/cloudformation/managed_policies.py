"""Managed policies of stacks. moto makes them, but neither changes nor deletes them: a team's access would stay."""

import json
from collections.abc import Mapping
from typing import Any

from moto.iam.models import Group, IAMBackend, ManagedPolicy, Role, User, iam_backends
from moto.utilities.utils import get_partition


class StackManagedPolicy(ManagedPolicy):
    """AWS::IAM::ManagedPolicy."""

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,  # noqa: ANN401 (moto's signature)
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> Any:  # noqa: ANN401 (moto's signature)
        """The policy with another document and other principals, or under another name another policy."""
        properties = cloudformation_json["Properties"]
        if properties.get("ManagedPolicyName", original_resource.name) != original_resource.name:
            made = cls.create_from_cloudformation_json(new_resource_name, cloudformation_json, account_id, region_name)
            cls.delete_from_cloudformation_json(original_resource.arn, cloudformation_json, account_id, region_name)
            return made
        backend = _backend(account_id, region_name)
        document = json.dumps(properties["PolicyDocument"])
        backend.create_policy_version(original_resource.arn, document, set_as_default=True)
        for version in original_resource.versions[:-1]:
            backend.delete_policy_version(original_resource.arn, version.version_id)
        _attach(backend, original_resource, properties)
        return original_resource

    @classmethod
    def delete_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> None:
        """Detach the policy, whose ARN is `resource_name`, and delete it."""
        backend = _backend(account_id, region_name)
        _attach(backend, backend.get_policy(resource_name), {})
        backend.delete_policy(resource_name)


def _backend(account_id: str, region_name: str) -> IAMBackend:
    backend: IAMBackend = iam_backends[account_id][get_partition(region_name)]
    return backend


def _attach(backend: IAMBackend, policy: ManagedPolicy, properties: Mapping[str, Any]) -> None:
    """Attach a policy to the principals that the properties name, and to nobody else."""
    everybody: list[tuple[str, Role | User | Group]] = [
        *(("Roles", role) for role in backend.roles.values()),
        *(("Users", user) for user in backend.users.values()),
        *(("Groups", group) for group in backend.groups.values()),
    ]
    for kind, principal in everybody:
        attached, wanted = policy.arn in principal.managed_policies, principal.name in properties.get(kind, [])
        if attached and not wanted:
            policy.detach_from(principal)
        elif wanted and not attached:
            policy.attach_to(principal)
