"""moto's resources of a stack, changed in CloudFormation's order.

moto removes what a new template lacks before it makes what is new, and leaves alone what refers to a resource that was
replaced. CloudFormation makes and changes first, what others refer to before them, and cleans up at the end.
Source: "Update behaviors of stack resources" in the CloudFormation user guide.
"""

from collections.abc import Mapping
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.parsing import ResourceMap, parse_and_update_resource

from policy_engine.emulator.cloudformation.dependencies import creation_order, dependencies
from policy_engine.emulator.cloudformation.resources import StackResource, backend_of
from policy_engine.template.resources import RETAINING


class ResourceRefusedError(ValidationError):
    """A resource could not be made or changed."""

    def __init__(self, logical_id: str, resource_type: str, cause: Exception) -> None:
        self.logical_id = logical_id
        self.resource_type = resource_type
        self.why = str(getattr(cause, "message", None) or cause)
        super().__init__(message=f"{logical_id} ({resource_type}): {self.why}")


class OrderedResourceMap(ResourceMap):
    """The resources of a stack."""

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 (moto's)
        super().__init__(*arguments, **named)
        self._given_up: dict[str, StackResource] = {}
        """Replacements of an update that failed, by logical id: still there, and no longer the stack's."""

        self._values_of_parameters: set[str] = set()

    def parse_ssm_parameter(self, value: str, value_type: str) -> str:
        """The value of a parameter in the parameter store.

        For a parameter that keeps its previous value, moto gives that value where AWS gives the parameter's name.
        """
        if value in self._values_of_parameters:
            return value
        found = super().parse_ssm_parameter(value, value_type)
        self._values_of_parameters.add(str(found))
        return found

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 (moto's)
        """A resource, which is made if it is not there. Raises ResourceRefusedError."""
        try:
            return super().__getitem__(key)
        except ResourceRefusedError:
            raise
        except Exception as error:
            if key not in self._resource_json_map:
                raise
            raise ResourceRefusedError(key, self._resource_json_map[key]["Type"], error) from error

    def create(self, template: dict[str, Any]) -> bool:
        """Make all resources. Raises ResourceRefusedError."""
        with self._lock:
            resources = {name: template["Resources"][name] for name in creation_order(template["Resources"])}
            return super().create({**template, "Resources": resources})

    def update(self, template: dict[str, Any], parameters: dict[str, Any] | None = None) -> None:
        """Make the stack what a template says.

        Raises ResourceRefusedError. An update with the template before then undoes what was done.
        """
        with self._lock:
            old = self._resource_json_map
            modified = set(self.build_resource_diff(template, parameters)["Modify"])
            self._take_template(template, parameters)
            replaced = self._make_and_change(modified)
            self._given_up = {}
            gone = {name: old[name] for name in self._parsed_resources if name in old and not self._wanted(name)}
            for original, keeps in replaced:
                if not keeps:
                    self._delete_resource(original, {})
            self._remove(gone)

    def delete(self) -> None:
        """Remove all resources that are not to be retained."""
        with self._lock:
            self._remove(self._resource_json_map)

    @property
    def _lock(self) -> Any:  # noqa: ANN401 (threading.RLock is no type)
        return backend_of(self._account_id, self._region_name).emulation.lock

    def _take_template(self, template: dict[str, Any], parameters: dict[str, Any] | None) -> None:
        self._template = template
        self.input_parameters = parameters or self.input_parameters
        self._resource_json_map = template["Resources"]
        self.load()

    def _wanted(self, name: str) -> bool:
        """Whether the template has a resource, and its condition holds."""
        resource = self._resource_json_map.get(name)
        condition = resource and resource.get("Condition")
        return resource is not None and (condition is None or bool(self.lazy_condition_map[condition]))

    def _make_and_change(self, modified: set[str]) -> list[tuple[StackResource, bool]]:
        """Make what is new and change what the template changes.

        Returns what has to go in the end, what refers to others before them, and whether the template keeps it.
        """
        given_up = self._given_up
        replaced: dict[str, StackResource] = {}
        changed = set(given_up)
        for name in filter(self._wanted, creation_order(self._resource_json_map)):
            original: Any = self._parsed_resources.get(name)
            try:
                if original is None:
                    self[name]
                elif name in modified or dependencies(self._resource_json_map[name]) & changed:
                    self._change(name, original)
            except ResourceRefusedError:
                self._given_up = {other: self._put_back(other, before) for other, before in replaced.items()}
                raise
            if original is not None and _physical_id(self._parsed_resources[name]) != _physical_id(original):
                changed.add(name)
                if isinstance(original, StackResource):  # moto's own models have deleted theirs
                    replaced[name] = original
        leaving = [(original, self._retains(name)) for name, original in replaced.items()]
        return [*leaving, *((resource, False) for resource in given_up.values())][::-1]

    def _change(self, name: str, original: object) -> None:
        """Change a resource in place, or replace it. Raises ResourceRefusedError."""
        resource = self._resource_json_map[name]
        try:
            changed = parse_and_update_resource(name, resource, self, self._account_id, self._region_name)
        except Exception as error:
            raise ResourceRefusedError(name, resource["Type"], error) from error
        # None: moto does not know how, and the resource stays as it is.
        self._parsed_resources[name] = original if changed is None else changed

    def _put_back(self, name: str, original: StackResource) -> StackResource:
        """The original in place of its replacement, which is returned."""
        replacement: StackResource = self._parsed_resources[name]
        self._parsed_resources[name] = original
        return replacement

    def _retains(self, name: str) -> bool:
        return self._resource_json_map[name].get("UpdateReplacePolicy") in RETAINING

    def _remove(self, resources: Mapping[str, Mapping[str, Any]]) -> None:
        """Remove resources, those that others refer to after them."""
        for name in creation_order(resources)[::-1]:
            present = self._parsed_resources.pop(name, None)
            if present is not None and resources[name].get("DeletionPolicy") not in RETAINING:
                self._delete_resource(present, dict(resources[name]))


def _physical_id(resource: object) -> object:
    """What `Ref` gives. Some of moto's models have none."""
    return getattr(resource, "physical_resource_id", None)
