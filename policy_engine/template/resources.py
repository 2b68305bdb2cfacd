"""The quota-management resources of a template, with their properties as far as they are known before deployment."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from policy_engine.template.nodes import Json, Node, Reference, ResourceId, Text, references_in
from policy_engine.template.scope import Scope
from policy_engine.topology.source import Path

RETAINING = frozenset({"Retain", "RetainExceptOnCreate"})
DELETE = "Delete"
_LOOP = "Fn::ForEach"


class ResourceKind(StrEnum):
    """The types of resources that quota management consists of."""

    SCHEDULING_POLICY = "AWS::Batch::SchedulingPolicy"
    SERVICE_ENVIRONMENT = "AWS::Batch::ServiceEnvironment"
    JOB_QUEUE = "AWS::Batch::JobQueue"
    QUOTA_SHARE = "AWS::Batch::QuotaShare"

    @property
    def noun(self) -> str:
        """What people call it."""
        return _NOUNS[self]

    @property
    def name_property(self) -> str:
        """The property that names such a resource. It is create-only: another name is another resource."""
        return _NAMES[self]


_NOUNS = {
    ResourceKind.SCHEDULING_POLICY: "scheduling policy",
    ResourceKind.SERVICE_ENVIRONMENT: "service environment",
    ResourceKind.JOB_QUEUE: "job queue",
    ResourceKind.QUOTA_SHARE: "quota share",
}
_NAMES = {
    ResourceKind.SCHEDULING_POLICY: "Name",
    ResourceKind.SERVICE_ENVIRONMENT: "ServiceEnvironmentName",
    ResourceKind.JOB_QUEUE: "JobQueueName",
    ResourceKind.QUOTA_SHARE: "QuotaShareName",
}


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a template."""

    template: str
    path: Path

    @property
    def logical_id(self) -> str | None:
        """The resource that it is in, or None."""
        return str(self.path[1]) if len(self.path) > 1 and self.path[0] == "Resources" else None

    @property
    def location(self) -> str:
        """Where in the resource: `Properties.CapacityLimits.0.MaxCapacity`. In no resource: where in the template."""
        return ".".join(map(str, self.path if self.logical_id is None else self.path[2:]))


@dataclass(frozen=True, slots=True)
class TemplateResource:
    """A resource of a template that is made, or may be made."""

    kind: ResourceKind
    id: ResourceId
    properties: Node
    condition: str | None
    """A condition of which only deployment decides whether it holds, and the resource is made. None: it is made."""
    deletion_policy: str
    update_replace_policy: str
    depends_on: frozenset[str]
    """Logical ids that it names in DependsOn."""

    @property
    def place(self) -> Place:
        """Where it stands."""
        return Place(self.id.template, ("Resources", self.id.logical_id))

    @property
    def name(self) -> str | None:
        """Its physical name, if the template says it."""
        node = self.properties.get(self.kind.name_property)
        written = None if node is None or isinstance(node.value, bool) else node.value
        return str(written) if isinstance(written, str | int) else None

    def get(self, *keys: str) -> Node | None:
        """A property, or a property of a property."""
        node: Node | None = self.properties
        for key in keys:
            node = None if node is None else node.get(key)
        return node

    def waits_for(self) -> frozenset[ResourceId]:
        """The resources that CloudFormation deals with before this one."""
        named = {ResourceId(self.id.template, logical_id) for logical_id in self.depends_on}
        return frozenset(named | {reference.resource for reference in references_in(self.properties)})


def resources_of(scope: Scope) -> Iterator[TemplateResource]:
    """The quota-management resources of a template, but for those whose condition does not hold."""
    for logical_id, data in scope.section("Resources").items():
        if not isinstance(data, dict) or data.get("Type") not in set(ResourceKind):
            continue
        named = data.get("Condition")
        condition = named if isinstance(named, str) else None
        holds = True if condition is None else scope.condition(condition)
        if holds is not False:
            yield TemplateResource(
                kind=ResourceKind(str(data["Type"])),
                id=ResourceId(scope.name, logical_id),
                properties=scope.resolve(data.get("Properties", {}), ("Resources", logical_id, "Properties")),
                condition=condition if holds is None else None,
                deletion_policy=_policy(data, "DeletionPolicy"),
                update_replace_policy=_policy(data, "UpdateReplacePolicy"),
                depends_on=frozenset(_names(data.get("DependsOn"))),
            )


def loops_in(scope: Scope) -> Iterator[Place]:
    """Where a template makes quota-management resources in a loop, so that nobody knows them before deployment."""
    for key, data in scope.section("Resources").items():
        if key.startswith(_LOOP) and any(kind.value in str(data) for kind in ResourceKind):
            yield Place(scope.name, ("Resources", key))


def named_by(node: Node) -> str | None:
    """The name at the end of a name or an ARN, also of an ARN whose Region or account is not known."""
    match node.value:
        case str() as text:
            return text.rsplit("/", 1)[-1]
        case Text() as text:
            last = text.split("/")[-1]
            return last if isinstance(last, str) and len(text.split("/")) > 1 else None
        case _:
            return None


def referred_to(node: Node) -> ResourceId | None:
    """The resource of the templates that a value refers to."""
    return node.value.resource if isinstance(node.value, Reference) else None


def _policy(data: Mapping[str, Json], key: str) -> str:
    value = data.get(key)
    return value if isinstance(value, str) else DELETE


def _names(data: Json) -> Iterator[str]:
    yield from (str(name) for name in (data if isinstance(data, list) else [data]) if isinstance(name, str))
