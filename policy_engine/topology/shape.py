"""What the model expects at a path: which keys, which choices."""

from collections.abc import Iterator
from enum import Enum
from types import UnionType
from typing import Annotated, TypeGuard, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from policy_engine.topology.model import Topology
from policy_engine.topology.source import Path


def model_at(path: Path) -> type[BaseModel] | None:
    """The model of the mapping at a path, or None if it is no model's (a free mapping, a scalar, nothing)."""
    return next((option for option in _options_at(path) if _is_model(option)), None)


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by the keys that a document writes."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def choices_at(path: Path) -> tuple[str, ...]:
    """The words that may stand at a path, if it takes one of several."""
    enums = (option for option in _options_at(path) if isinstance(option, type) and issubclass(option, Enum))
    return tuple(str(member.value) for choices in enums for member in choices)


def _options_at(path: Path) -> Iterator[object]:
    annotation: object = Topology
    for part in path:
        annotation = next((child for option in _options(annotation) for child in _children(option, part)), None)
    return _options(annotation)


def _children(option: object, part: str | int) -> Iterator[object]:
    if _is_model(option):
        field = fields_of(option).get(str(part))
        if field is not None:
            yield field.annotation
    elif get_origin(option) is dict:
        yield get_args(option)[1]
    elif get_origin(option) is tuple:
        yield get_args(option)[0]


def _options(annotation: object) -> Iterator[object]:
    origin = get_origin(annotation)
    if origin in {Union, UnionType}:
        for option in get_args(annotation):
            yield from _options(option)
    elif origin is Annotated:
        yield from _options(get_args(annotation)[0])
    else:
        yield annotation


def _is_model(annotation: object) -> TypeGuard[type[BaseModel]]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
