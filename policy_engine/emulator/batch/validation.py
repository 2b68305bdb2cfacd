"""Requests are held against botocore's model of AWS Batch: its names, types, lengths and enumerations."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import ListShape, MapShape, ServiceModel, Shape, StringShape, StructureShape
from botocore.validate import ParamValidator
from moto.batch.exceptions import ClientException

from policy_engine.topology.service_limits import MAX_NAME_LENGTH, MAX_TAGS

_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_LENGTH}}}")
_ANY_CASE = {"ServiceJobRetryAction"}
"""Enumerations that are taken in any case: AWS's own integration test sends `Retry`."""


@cache
def _service() -> ServiceModel:
    return ServiceModel(Loader().load_service_model("batch", "service-2"), "batch")


def input_shape(operation: str) -> StructureShape:
    """What the model says of an operation's request."""
    shape: StructureShape = _service().operation_model(operation).input_shape
    return shape


def check_request(operation: str, parameters: Mapping[str, Any]) -> None:
    """Check a request against the model. Raises ClientException with all that is wrong."""
    shape = input_shape(operation)
    report = ParamValidator().validate(parameters, shape)
    problems = report.generate_report().splitlines() if report.has_errors() else list(_problems("", shape, parameters))
    tags = parameters.get("tags") or {}
    if not problems and len(tags) > MAX_TAGS:
        problems.append(f"tags has {len(tags)} entries; a resource has at most {MAX_TAGS} tags")
    if problems:
        raise ClientException("; ".join(problems))


def check_name(field: str, name: str) -> None:
    """Check the name of a resource or a job. Raises ClientException."""
    if not _NAME.fullmatch(name):
        raise ClientException(
            f"{field} must have 1 to {MAX_NAME_LENGTH} letters, digits, hyphens and underscores, not {name[:200]!r}"
        )


def check_range(field: str, value: int, least: int, most: int) -> None:
    """Check a number. Raises ClientException."""
    if not least <= value <= most:
        raise ClientException(f"{field} must be between {least} and {most}, not {value}")


def _problems(place: str, shape: Shape, value: Any) -> Iterator[str]:  # noqa: ANN401 (any JSON)
    """What botocore's own validator, made for clients, leaves to the service: maxima, enumerations, booleans."""
    name = place.removeprefix(".")
    if isinstance(shape, StructureShape):
        for member, inner in value.items():
            yield from _problems(f"{place}.{member}", shape.members[member], inner)
    elif isinstance(shape, ListShape):
        yield from _too_long(name, shape, value)
        for index, inner in enumerate(value):
            yield from _problems(f"{place}[{index}]", shape.member, inner)
    elif isinstance(shape, MapShape):
        for key, inner in value.items():
            yield from _problems(f"{place} (key)", shape.key, key)
            yield from _problems(f"{place}.{key}", shape.value, inner)
    elif isinstance(shape, StringShape):
        yield from _too_long(name, shape, value)
        given = value.upper() if shape.name in _ANY_CASE else value
        if shape.enum and given not in shape.enum:
            yield f"{name} must be one of {' | '.join(shape.enum)}, not {value[:100]!r}"
    elif isinstance(value, bool) != (shape.type_name == "boolean"):
        yield f"{name} must be of type {shape.type_name}, not {str(value).lower()}"


def _too_long(name: str, shape: Shape, value: str | list[Any]) -> Iterator[str]:
    most = shape.metadata.get("max")
    if most is not None and len(value) > most:
        yield f"{name} has length {len(value)}; at most {most} is allowed"
