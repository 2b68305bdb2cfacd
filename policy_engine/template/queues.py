"""Which resources belong to one quota-managed queue: its service environment, its scheduling policy, its shares."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from policy_engine.diagnostics import Severity
from policy_engine.template.nodes import Node, ResourceId, Unknown
from policy_engine.template.problems import TemplateProblem, at
from policy_engine.template.resources import ResourceKind, TemplateResource, named_by, referred_to
from policy_engine.topology.reading_errors import ReadingError

SAGEMAKER_TRAINING = "SAGEMAKER_TRAINING"
NUM_INSTANCES = "NUM_INSTANCES"


@dataclass(frozen=True, slots=True)
class QueueResources:
    """A quota-managed queue with what belongs to it. What is made elsewhere is None."""

    queue: TemplateResource
    environment: TemplateResource | None
    policy: TemplateResource | None
    shares: tuple[TemplateResource, ...]

    def all(self) -> Iterator[TemplateResource]:
        """Every resource, in the order in which CloudFormation makes them."""
        yield from (resource for resource in (self.policy, self.environment, self.queue) if resource is not None)
        yield from self.shares


class Linking:
    """Finds the resource that a property of another one means, by reference, ARN or name."""

    def __init__(self, resources: Iterable[TemplateResource], accounts: Mapping[str, str]) -> None:
        """Take the resources of templates that are read together.

        :param accounts: What stands for account and Region of each template: names are unique there only.
        """
        self._by_id = {resource.id: resource for resource in resources}
        self._accounts = accounts
        self.problems: list[TemplateProblem] = []
        self.unmanaged: list[TemplateResource] = []
        """SageMaker Training queues without quota management, once `queues` has been gone through."""

    def queues(self) -> Iterator[QueueResources]:
        """Every quota-managed queue. Queues of other kinds are left out."""
        shares: dict[ResourceId, list[TemplateResource]] = {}
        for share in self._of_kind(ResourceKind.QUOTA_SHARE):
            queue = self._target(share, share.get("JobQueue"), ResourceKind.JOB_QUEUE)
            if queue is not None:
                shares.setdefault(queue.id, []).append(share)
        for queue in self._of_kind(ResourceKind.JOB_QUEUE):
            if not _may_be_quota_managed(queue):
                continue
            own = tuple(shares.get(queue.id, ()))
            found = QueueResources(queue, self._environment(queue), self._policy(queue), own)
            if _is_quota_managed(found):
                yield found
            else:
                self.unmanaged.append(queue)

    def _environment(self, queue: TemplateResource) -> TemplateResource | None:
        order = queue.get("ServiceEnvironmentOrder")
        named = [entry.get("ServiceEnvironment") for entry in order.items()] if order is not None else []
        first = named[0] if named else None
        return None if first is None else self._find(queue, first, ResourceKind.SERVICE_ENVIRONMENT)

    def _policy(self, queue: TemplateResource) -> TemplateResource | None:
        node = queue.get("SchedulingPolicyArn")
        return None if node is None else self._find(queue, node, ResourceKind.SCHEDULING_POLICY)

    def _of_kind(self, kind: ResourceKind) -> Sequence[TemplateResource]:
        return [resource for resource in self._by_id.values() if resource.kind is kind]

    def _target(self, of: TemplateResource, node: Node | None, kind: ResourceKind) -> TemplateResource | None:
        """As `_find`, with a problem if nothing is found."""
        if node is None:
            self.problems.append(
                TemplateProblem(
                    ReadingError.MISSING_KEY,
                    f"the {of.kind.noun} names no {kind.noun}",
                    f"add the property for its {kind.noun}",
                    of.place,
                )
            )
            return None
        found = self._find(of, node, kind)
        if found is None:
            self.problems.append(_elsewhere(of, node, kind))
        return found

    def _find(self, of: TemplateResource, node: Node, kind: ResourceKind) -> TemplateResource | None:
        id_ = referred_to(node)
        if id_ is not None:
            found = self._by_id.get(id_)
            return found if found is not None and found.kind is kind else None
        name = named_by(node)
        if name is None:
            return None
        account = self._accounts.get(of.id.template)
        same = [each for each in self._of_kind(kind) if each.name == name]
        near = [each for each in same if each.id.template == of.id.template] or [
            each for each in same if self._accounts.get(each.id.template) == account
        ]
        return near[0] if near else None


def _elsewhere(of: TemplateResource, node: Node, kind: ResourceKind) -> TemplateProblem:
    name = named_by(node)
    why = node.value.why if isinstance(node.value, Unknown) else f"{name or 'it'} is not made in this template"
    return TemplateProblem(
        ReadingError.MADE_ELSEWHERE,
        f"the {kind.noun} of this {of.kind.noun} is not known here, so it is not judged: {why}",
        f"judge it together with the template that makes its {kind.noun}",
        at(node),
        Severity.WARNING,
    )


def _may_be_quota_managed(queue: TemplateResource) -> bool:
    """Whether it is a SageMaker Training queue, or may be one."""
    kind = queue.get("JobQueueType")
    known = kind.value if kind is not None else None
    if isinstance(known, str):
        return known.upper() == SAGEMAKER_TRAINING
    return queue.get("ServiceEnvironmentOrder") is not None


def _is_quota_managed(found: QueueResources) -> bool:
    """Whether it has shares or the right policy, or, with a policy made elsewhere, limits by instance type.

    Source: "Quota management" in the AWS Batch user guide.
    """
    if found.shares:
        return True
    if found.policy is not None:
        return found.policy.get("QuotaSharePolicy") is not None
    if found.queue.get("SchedulingPolicyArn") is None or found.environment is None:
        return False
    limits = found.environment.get("CapacityLimits")
    units = [limit.get("CapacityUnit") for limit in limits.items()] if limits is not None else []
    return any(unit is not None and unit.value != NUM_INSTANCES for unit in units)
