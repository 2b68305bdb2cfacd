"""Change sets that fail: CloudFormation says why in the stack's events, and rolls back."""

from contextlib import suppress
from typing import Any, cast

from moto.cloudformation.models import ChangeSet, CloudFormationBackend, Event, Stack

from policy_engine.emulator.cloudformation.resource_map import ResourceRefusedError

_execute = CloudFormationBackend.execute_change_set
_delete = CloudFormationBackend.delete_change_set


def execute_change_set(self: CloudFormationBackend, change_set_name: str, stack_name: str | None = None) -> None:
    """As moto does, but for what happens if a resource refuses."""
    change_set = cast("ChangeSet", self.describe_change_set(change_set_name))
    stack: Stack = self.stacks[change_set.stack_id]
    before: dict[str, Any] = stack.resource_map._template
    parameters = dict(stack.resource_map.input_parameters)
    try:
        _execute(self, change_set_name, stack_name)
    except Exception as error:  # noqa: BLE001 (whatever a resource raises is why the deployment fails)
        change_set.execution_status = "EXECUTE_FAILED"
        _roll_back(stack, change_set.change_set_type, before, parameters, error)


def delete_change_set(self: CloudFormationBackend, change_set_name: str) -> None:
    """As moto does, but for one that is not there: AWS, too, takes that as deleted."""
    found = change_set_name in self.change_sets or any(
        change_set.change_set_name == change_set_name for change_set in self.change_sets.values()
    )
    if found:
        _delete(self, change_set_name)


def _refusal(stack: Stack, change_set_type: str, error: ResourceRefusedError) -> Event:
    return Event(
        stack_id=stack.stack_id,
        stack_name=stack.name,
        logical_resource_id=error.logical_id,
        physical_resource_id="",
        resource_type=error.resource_type,
        resource_status=f"{change_set_type}_FAILED",
        resource_status_reason=error.why,
        resource_properties=None,
    )


def _roll_back(
    stack: Stack, change_set_type: str, before: dict[str, Any], parameters: dict[str, Any], error: Exception
) -> None:
    why = str(error)
    if isinstance(error, ResourceRefusedError):
        stack.events.append(_refusal(stack, change_set_type, error))
    rollback = "ROLLBACK" if change_set_type == "CREATE" else "UPDATE_ROLLBACK"
    stack._add_stack_event(f"{rollback}_IN_PROGRESS", resource_status_reason=why)
    stack.status = f"{rollback}_FAILED"
    with suppress(Exception):  # then it stays ROLLBACK_FAILED, as in CloudFormation
        if change_set_type == "CREATE":
            stack.resource_map.delete()
        else:
            stack.resource_map.update(before, parameters)
        stack.status = f"{rollback}_COMPLETE"
    stack._add_stack_event(stack.status, resource_status_reason=why)
