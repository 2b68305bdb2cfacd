"""Puts the resources of quota management into moto's CloudFormation, for as long as they are wanted."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from moto.cloudformation import models, parsing
from moto.core.common_models import CloudFormationModel

from policy_engine.emulator.cloudformation import change_sets, rollback
from policy_engine.emulator.cloudformation.managed_policies import StackManagedPolicy
from policy_engine.emulator.cloudformation.resource_map import OrderedResourceMap
from policy_engine.emulator.cloudformation.resources import STACK_RESOURCES, StackResource

Model = type[CloudFormationModel] | type[StackResource]
_MODELS: Mapping[str, Model] = {**STACK_RESOURCES, StackManagedPolicy.cloudformation_type(): StackManagedPolicy}


@contextmanager
def stack_resources() -> Iterator[None]:
    """In this block stacks can have quota management's resources. Nothing of moto is changed after it."""
    own_list, own_map = parsing.get_model_list, parsing.get_model_map

    def model_list() -> list[Model]:
        return [
            *(model for model in own_list() if model.cloudformation_type() not in _MODELS),
            *_MODELS.values(),
        ]

    def model_map() -> dict[str, Model]:
        return {**own_map(), **_MODELS}

    with ExitStack() as replaced:
        for name, value in (("get_model_list", model_list), ("get_model_map", model_map)):
            replaced.enter_context(patch.object(parsing, name, value))
        replaced.enter_context(patch.object(models, "ResourceMap", OrderedResourceMap))
        for owner, operations in (
            (models.Stack, (rollback.create_resources, rollback.update)),
            (
                models.CloudFormationBackend,
                (rollback.execute_change_set, change_sets.describe_change_set, change_sets.delete_change_set),
            ),
        ):
            for operation in operations:
                replaced.enter_context(patch.object(owner, operation.__name__, operation))
        yield
