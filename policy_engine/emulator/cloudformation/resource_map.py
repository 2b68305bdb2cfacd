"""moto's resources of a stack, changed in CloudFormation's order.

moto removes what a new template lacks before it makes what is new, and leaves alone what refers to a resource that was
replaced. CloudFormation makes and changes first, what others refer to before them, and cleans up at the end.
Source: "Update behaviors of stack resources" in the CloudFormation user guide.
"""

from collections.abc import Mapping
from typing import Any

from moto.cloudformation.parsing import ResourceMap, parse_and_update_resource

from policy_engine.emulator.cloudformation.dependencies import creation_order, dependencies
from policy_engine.emulator.cloudformation.resources import StackResource, backend_of
from policy_engine.template.resources import RETAINING


class ResourceRefusedError(Exception):
    """A resource could not be made or changed."""

    def __init__(self, logical_id: str, resource_type: str, cause: Exception) -> None:
        self.logical_id = logical_id
        self.resource_type = resource_type
        self.why = str(getattr(cause, "message", None) or cause)
        super().__init__(f"{logical_id} ({resource_type}): {self.why}")


class OrderedResourceMap(ResourceMap):
    """The resources of a stack."""

    def create(self, template: dict[str, Any]) -> bool:
        """Make all resources."""
        with self._lock:
            return super().create({**template, "Resources": _in_order(template["Resources"])})

    def update(self, template: dict[str, Any], parameters: dict[str, Any] | None = None) -> None:
        """Make the stack what a template says."""
        with self._lock:
            old = self._resource_json_map
            modified = set(self.build_resource_diff(template, parameters)["Modify"])
            self._take_template(template, parameters)
            replaced = self._make_and_change(modified)
            gone = [name for name in self._parsed_resources if name in old and not self._wanted(name)]
            for original, resource in replaced:
                if resource.get("UpdateReplacePolicy") not in RETAINING:
                    self._delete_resource(original, dict(resource))
            self._remove({name: old[name] for name in gone})

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

    def _make_and_change(self, modified: set[str]) -> list[tuple[StackResource, Mapping[str, Any]]]:
        """Make what is new and change what the template changes. Returns what was replaced, with its new words.

        Raises ResourceRefusedError, with what was replaced back in its place.
        """
        replaced: dict[str, StackResource] = {}
        changed_ids: set[str] = set()
        for name in filter(self._wanted, creation_order(self._resource_json_map)):
            resource = self._resource_json_map[name]
            original: Any = self._parsed_resources.get(name)
            try:
                if original is None:
                    self[name]
                elif name in modified or dependencies(resource) & changed_ids:
                    self._change(name, original)
            except Exception as error:
                for other, before in reversed(replaced.items()):
                    self._delete_resource(self._parsed_resources[other], {})
                    self._parsed_resources[other] = before
                raise ResourceRefusedError(name, resource["Type"], error) from error
            present: Any = self._parsed_resources.get(name)
            if original is not None and present.physical_resource_id != original.physical_resource_id:
                changed_ids.add(name)
                if isinstance(original, StackResource):  # moto's own models have deleted theirs
                    replaced[name] = original
        return [(original, self._resource_json_map[name]) for name, original in reversed(replaced.items())]

    def _change(self, name: str, original: object) -> None:
        """Change a resource in place, or replace it."""
        changed = parse_and_update_resource(
            name, self._resource_json_map[name], self, self._account_id, self._region_name
        )
        # None: moto does not know how, and the resource stays as it is.
        self._parsed_resources[name] = original if changed is None else changed

    def _remove(self, resources: Mapping[str, Mapping[str, Any]]) -> None:
        """Remove resources, those that others refer to after them."""
        for name in creation_order(resources)[::-1]:
            present = self._parsed_resources.pop(name, None)
            if present is not None and resources[name].get("DeletionPolicy") not in RETAINING:
                self._delete_resource(present, dict(resources[name]))


def _in_order(resources: Mapping[str, Any]) -> dict[str, Any]:
    return {name: resources[name] for name in creation_order(resources)}
