"""A resource's CloudFormation properties as a request of AWS Batch's API."""

from collections.abc import Mapping
from typing import Any

from botocore.model import ListShape, Shape, StructureShape

from policy_engine.emulator.batch.validation import check_request, input_shape


def as_request(operation: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """The request. Properties are named as the API's members, but for the first letter.

    Raises ClientException if it is not as botocore's model says.
    """
    request: dict[str, Any] = _member(input_shape(operation), properties)
    check_request(operation, request)
    return request


def _member(shape: Shape | None, value: Any) -> Any:  # noqa: ANN401 (any JSON)
    if isinstance(shape, StructureShape) and isinstance(value, Mapping):
        names = {name: name[:1].lower() + name[1:] for name in value}
        return {names[name]: _member(shape.members.get(names[name]), inner) for name, inner in value.items()}
    if isinstance(shape, ListShape) and isinstance(value, list):
        return [_member(shape.member, inner) for inner in value]
    if shape is not None and shape.type_name == "integer" and isinstance(value, str) and value.lstrip("-").isdecimal():
        return int(value)  # CloudFormation takes numbers that are written as text
    return value
