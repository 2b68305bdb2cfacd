"""The values of one template: what its functions, parameters, mappings and conditions come to before deployment.

Source: "Intrinsic function reference", "Pseudo parameters reference" and "Template anatomy" in the AWS CloudFormation
user guide. Functions that are not listed here, and macros, are known only at deployment.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Protocol

from policy_engine.template.nodes import (
    ABSENT,
    Json,
    Node,
    Pieces,
    Reference,
    ResourceId,
    Text,
    Unknown,
    Value,
    text_of,
)
from policy_engine.template.parameters import Given, parameter
from policy_engine.topology.source import Path
from policy_engine.topology.suggestions import did_you_mean

_PLACEHOLDER = re.compile(r"\$\{(!?)([^}]*)\}")
_DYNAMIC = "{{resolve:"
_PSEUDO = (
    "AWS::AccountId",
    "AWS::NotificationARNs",
    "AWS::NoValue",
    "AWS::Partition",
    "AWS::Region",
    "AWS::StackId",
    "AWS::StackName",
    "AWS::URLSuffix",
)
_CONDITION_FUNCTIONS = frozenset({"Fn::And", "Fn::Or", "Fn::Not", "Fn::Equals", "Condition"})

NESTED_STACK = "AWS::CloudFormation::Stack"
_NESTED_OUTPUT = "Outputs."


class Siblings(Protocol):
    """The templates that are read together, as one of them sees the others."""

    def exported(self, name: str) -> Node | None:
        """What a stack exports under a name."""

    def output(self, stack: str, name: str) -> Node | None:
        """An output of a stack, by the stack's name."""

    def nested_output(self, template: str, logical_id: str, name: str) -> Node | None:
        """An output of a nested stack, by the template and the logical id of its resource."""


@dataclass(slots=True)
class Scope:
    """One template with what is known of its deployment."""

    name: str
    data: Mapping[str, Json]
    siblings: Siblings
    given: Given = field(default_factory=dict)
    pseudo: Mapping[str, str] = field(default_factory=dict)
    """Pseudo parameters that are known, such as `AWS::Region`."""
    _open: set[Path] = field(default_factory=set)
    """Paths that are being resolved: a template can be written to refer to itself without end."""

    def section(self, name: str) -> Mapping[str, Json]:
        """A section of the template by its name. Empty if there is none."""
        return _mapping(self.data.get(name))

    def resolve(self, data: Json, path: Path) -> Node:
        """What data at a path comes to."""
        if isinstance(data, list):
            items = tuple(self.resolve(item, (*path, index)) for index, item in enumerate(data))
            return Node(items, self.name, path)
        if isinstance(data, str) and _DYNAMIC in data:
            return self._unknown("a dynamic reference is resolved at deployment", path)
        if not isinstance(data, dict):
            return Node(data, self.name, path)
        if len(data) == 1:
            (key,) = data
            if key in _FUNCTIONS:
                with self._once(path) as first:
                    return _FUNCTIONS[key](self, data[key], path) if first else self._unknown(_ENDLESS, path)
            if key.startswith("Fn::") or key in _CONDITION_FUNCTIONS:
                return self._unknown(f"{key} is known only at deployment", path)
        return Node({key: self.resolve(value, (*path, key)) for key, value in data.items()}, self.name, path)

    def condition(self, name: str) -> bool | None:
        """Whether a condition holds. None if that depends on what only deployment decides."""
        path: Path = ("Conditions", name)
        with self._once(path) as first:
            return self._test(self.section("Conditions").get(name), path) if first else None

    def _test(self, data: Json, path: Path) -> bool | None:
        """The truth of a condition's expression."""
        expression = _mapping(data)
        key, argument = next(iter(expression.items()), ("", None))
        if key == "Condition":
            return self.condition(str(argument))
        inner: Path = (*path, key)
        operands = argument if isinstance(argument, list) else []
        if key == "Fn::Equals" and len(operands) == 2:
            return self._equal(*(self.resolve(side, (*inner, index)) for index, side in enumerate(operands)))
        tests = [self._test(item, (*inner, index)) for index, item in enumerate(operands)]
        connect = _CONNECTIVES.get(key)
        return None if connect is None or not tests else connect(tests)

    def _equal(self, left: Node, right: Node) -> bool | None:
        known = _known(left.value) and _known(right.value)
        return _plain(left.value) == _plain(right.value) if known else None

    def _ref(self, argument: Json, path: Path) -> Node:
        name = str(argument)
        if name == "AWS::NoValue":
            return Node(ABSENT, self.name, path)
        if name in self.pseudo:
            return Node(self.pseudo[name], self.name, path)
        if name in _PSEUDO:
            return self._unknown(f"{name} is known only at deployment", path)
        parameters = self.section("Parameters")
        if name in parameters:
            return parameter(name, parameters[name], self.given, Node(None, self.name, path))
        if name in self.section("Resources"):
            return Node(Reference(ResourceId(self.name, name)), self.name, path)
        known = [*self.section("Resources"), *parameters]
        return self._unknown(f"the template has no resource and no parameter {name!r}", path, did_you_mean(name, known))

    def _get_att(self, argument: Json, path: Path) -> Node:
        parts = argument.split(".", 1) if isinstance(argument, str) else argument
        if not (isinstance(parts, list) and len(parts) == 2 and all(isinstance(part, str) for part in parts)):
            return self._unknown("Fn::GetAtt takes the name of a resource and an attribute", path)
        logical_id, attribute = str(parts[0]), str(parts[1])
        resource = self.section("Resources").get(logical_id)
        if resource is None:
            mend = did_you_mean(logical_id, self.section("Resources"))
            return self._unknown(f"the template has no resource {logical_id!r}", path, mend)
        if _mapping(resource).get("Type") == NESTED_STACK and attribute.startswith(_NESTED_OUTPUT):
            output = attribute.removeprefix(_NESTED_OUTPUT)
            found = self.siblings.nested_output(self.name, logical_id, output)
            return self._found(found, f"it is an output of the nested stack {logical_id!r}", path)
        return Node(Reference(ResourceId(self.name, logical_id), attribute), self.name, path)

    def _sub(self, argument: Json, path: Path) -> Node:
        first, *rest = argument if isinstance(argument, list) and argument else [argument]
        text, variables = first, _mapping(rest[0] if rest else None)
        if not isinstance(text, str):
            return self._unknown("Fn::Sub takes a text", path)
        parts: list[str | Unknown | Reference] = []
        end = 0
        for match in _PLACEHOLDER.finditer(text):
            parts.append(text[end : match.start()])
            end = match.end()
            literal, name = match[1], match[2].strip()
            if literal:
                parts.append(f"${{{name}}}")
            elif name in variables:
                parts.extend(_parts(self.resolve(variables[name], (*path, "Fn::Sub", 1, name))))
            else:
                parts.extend(_parts(self._get_att(name, path) if "." in name else self._ref(name, path)))
        parts.append(text[end:])
        return Node(text_of(parts), self.name, path)

    def _join(self, argument: Json, path: Path) -> Node:
        if not isinstance(argument, list) or len(argument) != 2 or not isinstance(argument[0], str):
            return self._unknown("Fn::Join takes a delimiter and a list", path)
        joined = self.resolve(argument[1], (*path, "Fn::Join", 1))
        if not isinstance(joined.value, tuple):
            return self._unknown(_why(joined, "Fn::Join takes a list"), path)
        parts: list[str | Unknown | Reference] = []
        for index, item in enumerate(joined.items()):
            parts += [argument[0]] if index else []
            parts.extend(_parts(item))
        return Node(text_of(parts), self.name, path)

    def _split(self, argument: Json, path: Path) -> Node:
        if not isinstance(argument, list) or len(argument) != 2 or not isinstance(argument[0], str):
            return self._unknown("Fn::Split takes a delimiter and a text", path)
        delimiter, source = argument[0], self.resolve(argument[1], (*path, "Fn::Split", 1))
        match source.value:
            case str() as text if delimiter:
                pieces: tuple[Value, ...] = tuple(text.split(delimiter))
            case Text() as text if delimiter:
                pieces = text.split(delimiter)
            case Reference() as reference:
                return Node(Pieces(reference), self.name, path)
            case _:
                return self._unknown(_why(source, "Fn::Split takes a text"), path)
        return Node(tuple(Node(piece, self.name, path) for piece in pieces), self.name, path)

    def _select(self, argument: Json, path: Path) -> Node:
        if not isinstance(argument, list) or len(argument) != 2:
            return self._unknown("Fn::Select takes a number and a list", path)
        index = self.resolve(argument[0], (*path, "Fn::Select", 0)).value
        chosen = self.resolve(argument[1], (*path, "Fn::Select", 1))
        if isinstance(chosen.value, Pieces):
            return Node(Reference(chosen.value.of.resource, "a part of its ARN"), self.name, path)
        number = int(index) if isinstance(index, int | str) and str(index).isdecimal() else None
        if not isinstance(chosen.value, tuple) or number is None:
            return self._unknown(_why(chosen, "Fn::Select takes a number and a list"), path)
        if number >= len(chosen.value):
            return self._unknown(f"Fn::Select asks for item {number} of {len(chosen.value)}", path)
        return chosen.value[number]

    def _if(self, argument: Json, path: Path) -> Node:
        if not isinstance(argument, list) or len(argument) != 3:
            return self._unknown("Fn::If takes a condition and two values", path)
        holds = self.condition(str(argument[0]))
        if holds is None:
            why = f"whether the condition {argument[0]!r} holds is known only at deployment"
            return self._unknown(why, path, self._parameters_help())
        index = 1 if holds else 2
        return self.resolve(argument[index], (*path, "Fn::If", index))

    def _find_in_map(self, argument: Json, path: Path) -> Node:
        keys = argument[:3] if isinstance(argument, list) else []
        found: Json = self.section("Mappings")  # type: ignore[assignment]
        for index, key in enumerate(keys):
            node = self.resolve(key, (*path, "Fn::FindInMap", index))
            if not isinstance(node.value, str | int):
                return self._unknown(_why(node, "a key of Fn::FindInMap is a text"), path)
            found = _mapping(found).get(str(node.value))
        if len(keys) < 3 or found is None:
            return self._unknown("the template's mappings have no such value", path)
        return self.resolve(found, path)

    def _import_value(self, argument: Json, path: Path) -> Node:
        name = self.resolve(argument, (*path, "Fn::ImportValue")).value
        found = self.siblings.exported(name) if isinstance(name, str) else None
        shown = repr(name) if isinstance(name, str) else "it"
        return self._found(found, f"{shown} is exported by a stack that is not read here", path)

    def _get_stack_output(self, argument: Json, path: Path) -> Node:
        asked = _mapping(argument)
        stack, output = str(asked.get("StackName")), str(asked.get("OutputName"))
        found = self.siblings.output(stack, output)
        return self._found(found, f"it is an output of the stack {stack!r}, which is not read here", path)

    def _found(self, node: Node | None, otherwise: str, path: Path) -> Node:
        """A value of another template at the place where this one uses it."""
        return self._unknown(otherwise, path) if node is None else Node(node.value, self.name, path)

    def _unknown(self, why: str, path: Path, mend: str = "") -> Node:
        return Node(Unknown(why, mend), self.name, path)

    def _parameters_help(self) -> str:
        return "give the parameters it depends on with --parameter NAME=VALUE" if self.section("Parameters") else ""

    @contextmanager
    def _once(self, path: Path) -> Iterator[bool]:
        """Whether a path is not being resolved already."""
        if path in self._open:
            yield False
            return
        self._open.add(path)
        try:
            yield True
        finally:
            self._open.discard(path)


_ENDLESS = "it refers to itself"
_CONNECTIVES: Mapping[str, Callable[[list[bool | None]], bool | None]] = {
    "Fn::Not": lambda tests: None if tests[0] is None else not tests[0],
    "Fn::And": lambda tests: False if False in tests else None if None in tests else True,
    "Fn::Or": lambda tests: True if True in tests else None if None in tests else False,
}
_FUNCTIONS: Mapping[str, Callable[[Scope, Json, Path], Node]] = {
    "Ref": Scope._ref,
    "Fn::GetAtt": Scope._get_att,
    "Fn::Sub": Scope._sub,
    "Fn::Join": Scope._join,
    "Fn::Split": Scope._split,
    "Fn::Select": Scope._select,
    "Fn::If": Scope._if,
    "Fn::FindInMap": Scope._find_in_map,
    "Fn::ImportValue": Scope._import_value,
    "Fn::GetStackOutput": Scope._get_stack_output,
}


def _mapping(data: Json) -> Mapping[str, Json]:
    return data if isinstance(data, dict) else {}


def _known(value: Value) -> bool:
    return value is None or isinstance(value, str | int | float)


def _plain(value: Value) -> str:
    """As CloudFormation compares values: as texts."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _why(node: Node, otherwise: str) -> str:
    return node.value.why if isinstance(node.value, Unknown) else otherwise


def _parts(node: Node) -> tuple[str | Unknown | Reference, ...]:
    """A value as parts of a text."""
    match node.value:
        case Text(parts=parts):
            return parts
        case Unknown() | Reference() as part:
            return (part,)
        case Pieces(of=reference):
            return (reference,)
        case value if _known(value):
            return (_plain(value),)
        case _:
            return (Unknown("a list or a mapping stands where a text must stand"),)
