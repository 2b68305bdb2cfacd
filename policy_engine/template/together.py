"""Templates that belong together, and what one of them takes from another: exports, outputs, parameters."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from policy_engine.template.nodes import Json, Node
from policy_engine.template.parameters import Given
from policy_engine.template.scope import Scope
from policy_engine.topology.source import Path


@dataclass(frozen=True, slots=True)
class TemplateInput:
    """A template that is read together with others, and what is known of its deployment."""

    data: Mapping[str, Json]
    stack_name: str | None = None
    account: str | None = None
    region: str | None = None
    nested: Mapping[str, str] = field(default_factory=dict)
    """Names of nested templates among those that are read together, by the logical ids of their stacks."""


class Together:
    """Templates that are read together, each with a scope."""

    def __init__(self, templates: Mapping[str, TemplateInput], given: Mapping[str, Given]) -> None:
        self._templates = templates
        self.scopes = {
            name: Scope(name, each.data, self, given.get(name, {}), dict(_pseudo(each)))
            for name, each in templates.items()
        }
        self._parents = {
            nested: (name, logical_id)
            for name, each in templates.items()
            for logical_id, nested in each.nested.items()
            if nested in templates
        }
        for nested, (parent, logical_id) in self._parents.items():
            handed = self.scopes[parent].section("Resources").get(logical_id)
            properties = handed.get("Properties") if isinstance(handed, dict) else None
            parameters = properties.get("Parameters") if isinstance(properties, dict) else None
            if isinstance(parameters, dict):
                path: Path = ("Resources", logical_id, "Properties", "Parameters")
                self.scopes[nested].given = _Handed(self.scopes[parent], parameters, path)

    def exported(self, name: str) -> Node | None:
        """What a stack exports under a name."""
        for scope in self.scopes.values():
            for output, data in scope.section("Outputs").items():
                export = data.get("Export") if isinstance(data, dict) else None
                if isinstance(export, dict):
                    path: Path = ("Outputs", output)
                    if scope.resolve(export.get("Name"), (*path, "Export", "Name")).value == name:
                        return self._output(scope, output)
        return None

    def output(self, stack: str, name: str) -> Node | None:
        """An output of a stack, by the stack's name."""
        return next(
            (self._output(self.scopes[key], name) for key, each in self._templates.items() if each.stack_name == stack),
            None,
        )

    def nested_output(self, template: str, logical_id: str, name: str) -> Node | None:
        """An output of a nested stack, by the template and the logical id of its resource."""
        nested = self._templates[template].nested.get(logical_id)
        return self._output(self.scopes[nested], name) if nested in self.scopes else None

    def _output(self, scope: Scope, name: str) -> Node | None:
        data = scope.section("Outputs").get(name)
        if not isinstance(data, dict) or "Value" not in data:
            return None
        return scope.resolve(data["Value"], ("Outputs", name, "Value"))

    def account(self, name: str) -> str:
        """What stands for the account and the Region of a template, also of a nested one."""
        each = self._templates[self._root(name)]
        return f"{each.account}/{each.region}"

    def surely_same_account(self, name: str) -> str:
        """As `account`, but of its own for each template that may be deployed anywhere, with those nested in it."""
        root = self._root(name)
        each = self._templates[root]
        return self.account(root) if each.account and each.region else root

    def _root(self, name: str) -> str:
        while name in self._parents:
            name, _ = self._parents[name]
        return name


@dataclass(frozen=True, slots=True)
class _Handed(Mapping[str, "str | Node"]):
    """What a parent stack hands to the parameters of a nested one."""

    parent: Scope
    parameters: Mapping[str, Json]
    path: Path

    def __getitem__(self, name: str) -> Node:
        return self.parent.resolve(self.parameters[name], (*self.path, name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.parameters)

    def __len__(self) -> int:
        return len(self.parameters)


def _pseudo(template: TemplateInput) -> Iterator[tuple[str, str]]:
    known = {
        "AWS::AccountId": template.account,
        "AWS::Region": template.region,
        "AWS::StackName": template.stack_name,
    }
    yield from ((name, value) for name, value in known.items() if value is not None)
