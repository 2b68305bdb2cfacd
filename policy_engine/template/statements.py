"""What IAM policies beside a queue allow, as far as it is known before deployment."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policy_engine.template.nodes import Node, Reference, ResourceId, Text, Unknown
from policy_engine.template.resources import Place, ResourceKind
from policy_engine.template.scope import Scope

UNKNOWN = "…"
"""Stands in a pattern for what only deployment decides. It is no wildcard."""

_IAM = "AWS::IAM::"
_QUEUE_ARN = f"arn:{UNKNOWN}:batch:{UNKNOWN}:{UNKNOWN}:job-queue/{UNKNOWN}"
_ARNS = {
    ResourceKind.JOB_QUEUE.value: _QUEUE_ARN,
    ResourceKind.QUOTA_SHARE.value: f"{_QUEUE_ARN}/quota-share/{UNKNOWN}",
}
"""What a reference to such a resource stands for in a policy."""


@dataclass(frozen=True, slots=True)
class ResourcePattern:
    """A resource that a statement names, with its wildcards, and where it stands."""

    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class AccessStatement:
    """A statement of a policy that allows something."""

    actions: tuple[str, ...]
    resources: tuple[ResourcePattern, ...]
    condition_keys: tuple[str, ...]


def statements_of(scopes: Mapping[str, Scope]) -> Iterator[AccessStatement]:
    """Every statement that allows something, of the policies of roles, users and groups in templates."""
    for scope in scopes.values():
        for logical_id, data in scope.section("Resources").items():
            if not isinstance(data, dict) or not str(data.get("Type")).startswith(_IAM):
                continue
            condition = data.get("Condition")
            if isinstance(condition, str) and scope.condition(condition) is False:
                continue
            properties = scope.resolve(data.get("Properties"), ("Resources", logical_id, "Properties"))
            for document in _documents(properties):
                for statement in _several(document.get("Statement")):
                    effect = statement.get("Effect")
                    if effect is not None and effect.value == "Allow":
                        yield _read(statement, scopes)


def _documents(properties: Node) -> Iterator[Node]:
    policies = properties.get("Policies")
    for holder in (properties, *(policies.items() if policies is not None else ())):
        document = holder.get("PolicyDocument")
        if document is not None:
            yield document


def _read(statement: Node, scopes: Mapping[str, Scope]) -> AccessStatement:
    operators = statement.get("Condition")
    by_operator = operators.value.values() if operators is not None and isinstance(operators.value, Mapping) else ()
    return AccessStatement(
        actions=tuple(node.value for node in _several(statement.get("Action")) if isinstance(node.value, str)),
        resources=tuple(
            ResourcePattern(_text(node, scopes), Place(node.template, node.path))
            for node in _several(statement.get("Resource"))
        ),
        condition_keys=tuple(key for each in by_operator if isinstance(each.value, Mapping) for key in each.value),
    )


def _several(node: Node | None) -> tuple[Node, ...]:
    """IAM takes one where it takes a list."""
    if node is None:
        return ()
    return node.items() if isinstance(node.value, tuple) else (node,)


def _text(node: Node, scopes: Mapping[str, Scope]) -> str:
    match node.value:
        case str() as text:
            return text
        case Text(parts=parts):
            return "".join(_part(part, scopes) for part in parts)
        case Reference() as reference:
            return _part(reference, scopes)
        case _:
            return UNKNOWN


def _part(part: str | Unknown | Reference, scopes: Mapping[str, Scope]) -> str:
    if isinstance(part, str):
        return part
    return UNKNOWN if isinstance(part, Unknown) else _ARNS.get(_type(part.resource, scopes), UNKNOWN)


def _type(resource: ResourceId, scopes: Mapping[str, Scope]) -> str:
    data = scopes[resource.template].section("Resources").get(resource.logical_id)
    return str(data.get("Type")) if isinstance(data, dict) else ""
