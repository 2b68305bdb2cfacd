"""What a template's parameters are worth before deployment: what is given, or else their defaults."""

from collections.abc import Mapping

from policy_engine.template.nodes import Json, Node, Unknown, Value

Given = Mapping[str, "str | Node"]
"""Values of parameters by name: texts as on the command line, or what a parent stack hands to a nested one."""

_FROM_PARAMETER_STORE = "AWS::SSM::Parameter::"
_LISTS = ("CommaDelimitedList", "List<")


def parameter(name: str, declared: Json, given: Given, at: Node) -> Node:
    """The value of a parameter where it is used."""
    declaration = declared if isinstance(declared, dict) else {}
    kind = str(declaration.get("Type", "String"))
    value = given.get(name, declaration.get("Default"))
    if isinstance(value, Node):
        return Node(value.value, at.template, at.path)
    return Node(_value(name, kind, value, at), at.template, at.path)


def _value(name: str, kind: str, value: Json, at: Node) -> Value:
    if kind.startswith(_FROM_PARAMETER_STORE):
        return Unknown(f"the parameter {name!r} is read from the Parameter Store at deployment")
    if value is None:
        return Unknown(f"the parameter {name!r} has no default", f"give it with --parameter {name}=VALUE")
    if isinstance(value, list | dict):
        return Unknown(f"the default of the parameter {name!r} is no text and no number")
    if kind.startswith(_LISTS):
        return tuple(Node(item.strip(), at.template, at.path) for item in str(value).split(","))
    return value
