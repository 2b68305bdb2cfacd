"""In which order the resources of a template are made: those that others refer to first."""

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from moto.cloudformation.exceptions import ValidationError

_IN_TEXT = re.compile(r"\$\{([A-Za-z0-9]+)[^}]*\}")


def creation_order(resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The logical ids, each after those that it depends on. Raises ValidationError if they depend on each other."""
    graph = {name: sorted(dependencies(resource) & resources.keys()) for name, resource in resources.items()}
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        among = ", ".join(dict.fromkeys(error.args[1]))
        raise ValidationError(message=f"Circular dependency between resources: [{among}]") from error


def dependencies(resource: Mapping[str, Any]) -> set[str]:
    """What a resource names in DependsOn, Ref, Fn::GetAtt and Fn::Sub: logical ids, and names of parameters."""
    explicit = resource.get("DependsOn", [])
    return {*([explicit] if isinstance(explicit, str) else explicit), *_references(resource.get("Properties"))}


def _references(value: Any) -> Iterator[str]:  # noqa: ANN401 (any JSON)
    if isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if key == "Ref":
                yield inner
            elif key == "Fn::GetAtt":
                yield inner.partition(".")[0] if isinstance(inner, str) else inner[0]
            elif key == "Fn::Sub":
                yield from _IN_TEXT.findall(inner if isinstance(inner, str) else inner[0])
            yield from _references(inner)
