"""A queue as it is, or will be, deployed: its resources with their settings, from a topology or from a template."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policy_engine.diagnostics import Finding
from policy_engine.durations import format_milliseconds
from policy_engine.template import ResourceKind, TemplateQueue, TemplateResource
from policy_engine.template.resources import RETAINING
from policy_engine.topology.model import UNLIMITED, OwnedShare, Topology
from policy_engine.topology.source import Path, SourceMap
from policy_engine.topology.tags import quota_share_tags

ENABLED = "ENABLED"
QUOTA_SHARE_POLICY = "quota share policy"
FAIR_SHARE_POLICY = "fair share policy"

Setting = str | int | None
Settings = Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource with all of its settings that an update can change."""

    kind: ResourceKind
    name: str
    """Its physical name, or the logical id of a resource that its template does not name."""
    identity: object
    """What stands for its physical name. Another one is another resource."""
    logical_id: str | None
    """None for a resource of a topology: its logical id depends on where the construct stands."""
    settings: Settings
    path: Path
    """Where it stands in the topology."""
    retained_when_removed: bool = False
    retained_when_replaced: bool = False
    waits_for: frozenset[str] | None = None
    """Logical ids of the resources that CloudFormation deals with before it. None: all that it needs."""


@dataclass(frozen=True, slots=True)
class QueueSetup:
    """One side of a comparison: a queue with everything that belongs to it."""

    topology: Topology
    sources: SourceMap
    queue: Resource
    environment: Resource
    policy: Resource | None
    """None if it is made elsewhere."""
    shares: Mapping[str, Resource]
    """By logical id if there are any, else by name."""
    template: TemplateQueue | None = None

    def owned(self, share: Resource) -> OwnedShare:
        """A quota share as the topology has it."""
        return next(owned for owned in self.topology.quota_shares() if owned.name == share.name)

    def located(self, finding: Finding) -> Finding:
        """A finding about the topology with the path that its file has."""
        return finding if self.template is None else self.template.located(finding)

    def others(self) -> Iterator[Resource]:
        """All resources but the shares, in the order in which CloudFormation makes them."""
        yield from (each for each in (self.policy, self.environment, self.queue) if each is not None)


def setup_of_topology(topology: Topology, sources: SourceMap) -> QueueSetup:
    """The resources that `QuotaManagedQueue` makes of a topology."""
    tags = _tags(topology.queue.tags)
    policy = _made(
        ResourceKind.SCHEDULING_POLICY,
        topology.scheduling_policy_name,
        {"type": QUOTA_SHARE_POLICY, **tags},
        ("name",),
    )
    environment = _made(
        ResourceKind.SERVICE_ENVIRONMENT,
        topology.service_environment_name,
        {**_capacity(topology.capacity), "state": ENABLED, **tags},
        ("capacity",),
    )
    queue = _made(
        ResourceKind.JOB_QUEUE,
        topology.queue_name,
        {**_of_queue(topology), "state": ENABLED, **_links(environment, policy), **tags},
        ("queue",),
    )
    shares = {
        owned.name: _made(
            ResourceKind.QUOTA_SHARE,
            owned.name,
            {**_of_share(owned), **_tags(quota_share_tags(topology, owned))},
            _share_path(owned),
        )
        for owned in topology.quota_shares()
    }
    return QueueSetup(topology, sources, queue, environment, policy, shares)


def setup_of_queue(read: TemplateQueue) -> QueueSetup:
    """The resources of a queue of a template."""
    topology, found = read.topology, read.resources
    environment_resource = found.environment
    if environment_resource is None:
        raise ValueError(f"{read.name} was read without its service environment")
    environment = _resource(
        environment_resource,
        {**_capacity(topology.capacity), **_state(environment_resource), **_template_tags(environment_resource)},
        ("capacity",),
    )
    policy = None
    if found.policy is not None:
        policy = _resource(
            found.policy, {"type": _policy_type(found.policy), **_template_tags(found.policy)}, ("name",)
        )
    queue = _resource(
        found.queue,
        {
            **_of_queue(topology),
            **_state(found.queue),
            **_links(environment, policy),
            **_template_tags(found.queue),
        },
        ("queue",),
    )
    by_name = {owned.name: owned for owned in topology.quota_shares()}
    shares = {}
    for share in found.shares:
        owned = by_name[share.name or ""]
        settings = {**_of_share(owned), **_template_tags(share)}
        shares[share.id.logical_id] = _resource(share, settings, _share_path(owned))
    return QueueSetup(topology, read.sources, queue, environment, policy, shares, read)


def unmanaged_queue(found: TemplateResource) -> Resource:
    """A queue of a template without quota management, of which no setting matters."""
    return _resource(found, {}, ())


def _made(kind: ResourceKind, name: str, settings: Settings, path: Path) -> Resource:
    return Resource(kind, name, name, None, settings, path)


def _resource(of: TemplateResource, settings: Settings, path: Path) -> Resource:
    named = of.get(of.kind.name_property)
    return Resource(
        kind=of.kind,
        name=of.name or of.id.logical_id,
        identity=None if named is None else named.value,
        logical_id=of.id.logical_id,
        settings=settings,
        path=path,
        retained_when_removed=of.deletion_policy in RETAINING,
        retained_when_replaced=of.update_replace_policy in RETAINING,
        waits_for=frozenset(each.logical_id for each in of.waits_for()),
    )


def _capacity(capacity: Mapping[str, int]) -> dict[str, Setting]:
    return {f"capacity {unit}": count for unit, count in capacity.items()}


def _of_share(owned: OwnedShare) -> dict[str, Setting]:
    share = owned.share
    percent = share.borrow_percent
    return {
        **_capacity(share.capacity),
        "strategy": share.strategy.value,
        "borrow limit": "unlimited" if percent == UNLIMITED else f"{percent} %",
        "in-share preemption": ENABLED if share.in_share_preemption else "DISABLED",
        "state": share.state.value,
    }


def _of_queue(topology: Topology) -> dict[str, Setting]:
    limits = {f"time limit {limit.reason}": format_milliseconds(limit.after) for limit in topology.queue.time_limits}
    return {"priority": topology.queue.priority, **limits}


def _links(environment: Resource, policy: Resource | None) -> dict[str, Setting]:
    links: dict[str, Setting] = {"environment": environment.name}
    return links if policy is None else {**links, "scheduling policy": policy.name}


def _policy_type(policy: TemplateResource) -> str:
    return QUOTA_SHARE_POLICY if policy.get("QuotaSharePolicy") is not None else FAIR_SHARE_POLICY


def _state(resource: TemplateResource) -> dict[str, Setting]:
    node = resource.get("State")
    return {"state": node.value if node is not None and isinstance(node.value, str) else ENABLED}


def _tags(tags: Mapping[str, str]) -> dict[str, Setting]:
    return {f"tag {key}": value for key, value in tags.items()}


def _template_tags(resource: TemplateResource) -> dict[str, Setting]:
    tags = resource.get("Tags")
    known = tags.value.items() if tags is not None and isinstance(tags.value, Mapping) else ()
    values = {key: node.value for key, node in known if not isinstance(node.value, bool)}
    return {f"tag {key}": str(value) for key, value in values.items() if isinstance(value, str | int | float)}


def _share_path(owned: OwnedShare) -> Path:
    return ("teams", owned.team, "shares", owned.name)
