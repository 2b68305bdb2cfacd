"""Deployments that fail: CloudFormation says why in the stack's events, and rolls back. moto does neither."""

from contextlib import suppress
from typing import Any, cast

from moto.cloudformation.models import ChangeSet, CloudFormationBackend, Event, Stack

from policy_engine.emulator.cloudformation.resource_map import ResourceRefusedError

_create = Stack.create_resources
_update = Stack.update
_execute = CloudFormationBackend.execute_change_set


def create_resources(self: Stack) -> None:
    """CreateStack: its end, after which the stack's status says whether it is there."""
    try:
        _create(self)
    except ResourceRefusedError as error:
        _undo_creation(self, error)


def update(
    self: Stack,
    template: str,
    role_arn: str | None = None,
    parameters: dict[str, Any] | None = None,
    tags: dict[str, str] | None = None,
) -> None:
    """UpdateStack."""
    before, words, given = self.template, self.template_dict, dict(self.resource_map.input_parameters)
    try:
        _update(self, template, role_arn, parameters, tags)
    except ResourceRefusedError as error:
        self.template, self.template_dict = before, words
        _undo_update(self, words, given, error)


def execute_change_set(self: CloudFormationBackend, change_set_name: str, stack_name: str | None = None) -> None:
    """ExecuteChangeSet."""
    change_set = cast("ChangeSet", self.describe_change_set(change_set_name))
    stack: Stack = self.stacks[change_set.stack_id]
    before, given = stack.resource_map._template, dict(stack.resource_map.input_parameters)
    try:
        _execute(self, change_set_name, stack_name)
    except ResourceRefusedError as error:
        change_set.execution_status = "EXECUTE_FAILED"
        if change_set.change_set_type == "CREATE":
            _undo_creation(stack, error)
        else:
            _undo_update(stack, before, given, error)


def _undo_creation(stack: Stack, error: ResourceRefusedError) -> None:
    _say_that_it_failed(stack, "CREATE_FAILED", "ROLLBACK", error)
    with suppress(Exception):  # then it stays ROLLBACK_FAILED
        stack.resource_map.delete()
        stack.status = "ROLLBACK_COMPLETE"
    stack._add_stack_event(stack.status)


def _undo_update(stack: Stack, before: dict[str, Any], parameters: dict[str, Any], error: ResourceRefusedError) -> None:
    _say_that_it_failed(stack, "UPDATE_FAILED", "UPDATE_ROLLBACK", error)
    with suppress(Exception):  # then it stays UPDATE_ROLLBACK_FAILED
        stack.resource_map.update(before, parameters)
        stack.status = "UPDATE_ROLLBACK_COMPLETE"
    stack._add_stack_event(stack.status)


def _say_that_it_failed(stack: Stack, status: str, rollback: str, error: ResourceRefusedError) -> None:
    failed = Event(
        stack_id=stack.stack_id,
        stack_name=stack.name,
        logical_resource_id=error.logical_id,
        physical_resource_id="",
        resource_type=error.resource_type,
        resource_status=status,
        resource_status_reason=error.why,
        resource_properties=None,
    )
    stack.events.append(failed)
    why = f"The following resource(s) failed: [{error.logical_id}]."
    stack._add_stack_event(f"{rollback}_IN_PROGRESS", resource_status_reason=why)
    stack.status = f"{rollback}_FAILED"
