"""The templates of a CDK app's cloud assembly, with what the assembly knows of their deployment.

Source: the assembly's own files, as `aws-cdk-lib` writes them: `manifest.json` has a stack's name and metadata,
`*.assets.json` the files of nested templates.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from policy_engine.template.nodes import Json
from policy_engine.template.scope import NESTED_STACK
from policy_engine.template.together import TemplateInput
from policy_engine.topology.model import Topology

TOPOLOGY_METADATA = "batch-quota:topology"
"""Type of the metadata by which a construct says from which topology it was made: the topology as JSON."""

_STACK = "aws:cloudformation:stack"
_ASSETS = "cdk:asset-manifest"
_ASSET_PATH = "aws:asset:path"


@dataclass(frozen=True, slots=True)
class StackTemplate:
    """A stack's template in a cloud assembly."""

    path: str
    account: str | None = None
    region: str | None = None


@dataclass(frozen=True, slots=True)
class Assembly:
    """Templates that belong together, by their paths, nested ones included."""

    templates: Mapping[str, TemplateInput]
    declared: Mapping[str, tuple[Topology, ...]] = field(default_factory=dict)
    """The topologies that a stack was made from, by the path of its template or of one that is nested in it."""


def assembly_of(stacks: Iterable[StackTemplate]) -> Assembly:
    """Read the templates of stacks, and what their assembly says of them. Raises OSError or ValueError."""
    templates: dict[str, TemplateInput] = {}
    declared: dict[str, tuple[Topology, ...]] = {}
    folders: dict[Path, _Folder] = {}
    for stack in stacks:
        path = Path(stack.path)
        folder = folders.setdefault(path.parent, _Folder(path.parent))
        topologies = folder.topologies(path.name)
        waiting = [path]
        while waiting:
            each = waiting.pop()
            data = _json(each)
            nested = dict(folder.nested(data))
            name = folder.stack_name(path.name) if each == path else None
            children = {logical_id: str(child) for logical_id, child in nested.items()}
            templates[str(each)] = TemplateInput(data, name, stack.account, stack.region, children)
            declared[str(each)] = topologies
            waiting += [child for child in nested.values() if str(child) not in templates]
    return Assembly(templates, declared)


class _Folder:
    """A folder of a cloud assembly: that of the app, or that of a stage."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        manifest = folder / "manifest.json"
        self._artifacts = _mapping(_json(manifest).get("artifacts")) if manifest.is_file() else {}

    def stack_name(self, template: str) -> str | None:
        """The name of the stack with this template."""
        for id_, artifact in self._stacks(template):
            name = _mapping(artifact.get("properties")).get("stackName")
            return name if isinstance(name, str) else id_
        return None

    def topologies(self, template: str) -> tuple[Topology, ...]:
        """The topologies that constructs in the stack with this template were made from."""
        found: list[Topology] = []
        for _, artifact in self._stacks(template):
            metadata = _mapping(artifact.get("metadata"))
            file = artifact.get("additionalMetadataFile")
            if isinstance(file, str):
                metadata = {**metadata, **_json(self._folder / file)}
            for entries in metadata.values():
                for entry in entries if isinstance(entries, list) else []:
                    if isinstance(entry, dict) and entry.get("type") == TOPOLOGY_METADATA:
                        found.append(Topology.model_validate_json(str(entry.get("data"))))
        return tuple(found)

    def nested(self, template: Mapping[str, Json]) -> Iterator[tuple[str, Path]]:
        """Nested templates by the logical ids of their stacks."""
        for logical_id, resource in _mapping(template.get("Resources")).items():
            data = _mapping(resource)
            if data.get("Type") != NESTED_STACK:
                continue
            named = _mapping(data.get("Metadata")).get(_ASSET_PATH)
            url = json.dumps(_mapping(data.get("Properties")).get("TemplateURL"))
            hashed = (path for hash_, path in self._files() if hash_ in url)
            path = named if isinstance(named, str) else next(hashed, None)
            if path is not None and (self._folder / path).is_file():
                yield logical_id, self._folder / path

    def _stacks(self, template: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
        for id_, artifact in self._artifacts.items():
            data = _mapping(artifact)
            if data.get("type") == _STACK and _mapping(data.get("properties")).get("templateFile") == template:
                yield id_, data

    def _files(self) -> Iterator[tuple[str, str]]:
        """The files of assets, by their hashes."""
        for artifact in self._artifacts.values():
            data = _mapping(artifact)
            file = _mapping(data.get("properties")).get("file")
            if data.get("type") != _ASSETS or not isinstance(file, str):
                continue
            for hash_, asset in _mapping(_json(self._folder / file).get("files")).items():
                path = _mapping(_mapping(asset).get("source")).get("path")
                if isinstance(path, str):
                    yield hash_, path


def _json(path: Path) -> Mapping[str, Json]:
    """A JSON file's mapping. Empty if the file has something else."""
    return _mapping(cast("Json", json.loads(path.read_bytes())))


def _mapping(data: Json) -> Mapping[str, Json]:
    return data if isinstance(data, dict) else {}
