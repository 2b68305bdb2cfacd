"""From a queue's resources to a topology, with the place in the template of each part of it."""

import re
from collections.abc import Iterator, Mapping

from pydantic import ValidationError

from policy_engine.diagnostics import Severity, described
from policy_engine.template.nodes import Node
from policy_engine.template.places import Places
from policy_engine.template.problems import TemplateProblem, at
from policy_engine.template.property_values import PropertyValues
from policy_engine.template.queues import QueueResources
from policy_engine.template.resources import Place, ResourceKind, TemplateResource
from policy_engine.topology.model import UNLIMITED, ResourceSharingStrategy, ShareState, Topology
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.service_limits import MAX_NAME_LENGTH, NAME_CHARACTERS
from policy_engine.topology.source import Path, SourceMap
from policy_engine.topology.tags import TEAM_TAG, TRAINING_PLAN_TAG

NO_TEAM = "no-team"
"""The team of shares without the tag that names one."""

_NAME = re.compile(f"[{NAME_CHARACTERS}]{{1,{MAX_NAME_LENGTH}}}")
_SUFFIXES = {
    ResourceKind.SCHEDULING_POLICY: "-scheduling-policy",
    ResourceKind.SERVICE_ENVIRONMENT: "-service-environment",
    ResourceKind.JOB_QUEUE: "-queue",
}
"""What `Topology` adds to its name."""


def topology_of(resources: QueueResources, sources: SourceMap) -> tuple[Topology | None, Places, list[TemplateProblem]]:
    """The topology of a queue's resources, the places of its parts, and what stands in the way.

    No topology if anything that it needs is not known. `sources` has the positions of the queue's template.
    """
    places, values = Places(resources.queue.id.template, sources), PropertyValues()
    data = _Builder(resources, places, values).build()
    topology: Topology | None = None
    if not any(problem.severity is Severity.ERROR for problem in values.problems):
        try:
            topology = Topology.model_validate(data)
        except ValidationError as error:
            for details in error.errors():
                values.problem(ReadingError.WRONG_VALUE, details["msg"], "", places.nearest(tuple(details["loc"])))
    return topology, places, values.problems


class _Builder:
    def __init__(self, resources: QueueResources, places: Places, values: PropertyValues) -> None:
        self._resources = resources
        self._values = values
        self.places = places

    def build(self) -> dict[str, object]:
        queue = self._resources.queue
        self.places.put((), queue.place)
        for resource in self._resources.all():
            self._check_condition(resource)
            self._check_name(resource)
        name = queue.get("JobQueueName")
        self.places.put(("name",), queue.place if name is None else at(name))
        return {
            "name": self._topology_name(),
            "capacity": self._environment_capacity(),
            "queue": self._queue(queue),
            "teams": self._teams(),
        }

    def _check_condition(self, resource: TemplateResource) -> None:
        if resource.condition is not None:
            self._values.problem(
                ReadingError.UNDECIDED_CONDITION,
                f"whether the condition {described(resource.condition)} holds is known only at deployment; "
                f"this {resource.kind.noun} is judged as if it did",
                "give the parameters that it depends on with --parameter NAME=VALUE",
                resource.place,
                Severity.WARNING,
            )

    def _check_name(self, resource: TemplateResource) -> None:
        name = resource.name
        if name is not None and _NAME.fullmatch(name) is None:
            self._values.problem(
                ReadingError.WRONG_VALUE,
                f"{described(name)} is no name that AWS Batch takes",
                f"use 1 to {MAX_NAME_LENGTH} letters, digits, hyphens and underscores",
                Place(resource.id.template, (*resource.place.path, "Properties", resource.kind.name_property)),
            )

    def _topology_name(self) -> str:
        """The name that the policy's, the environment's and the queue's names are made of, or else the queue's."""
        queue = self._resources.queue
        name = queue.name or queue.id.logical_id
        stem = name.removesuffix(_SUFFIXES[queue.kind])
        others = [each for each in (self._resources.policy, self._resources.environment) if each is not None]
        made = all(each.name == stem + _SUFFIXES[each.kind] for each in others)
        return stem if stem and stem != name and made else name

    def _queue(self, queue: TemplateResource) -> dict[str, object]:
        self.places.put(("queue",), queue.place)
        data: dict[str, object] = {"tags": self._tags(queue, ("queue", "tags"))}
        priority = queue.get("Priority")
        if priority is not None:
            self.places.put(("queue", "priority"), at(priority))
            data["priority"] = self._values.whole(priority, "Priority")
        data["time_limits"] = list(self._time_limits(queue))
        return data

    def _time_limits(self, queue: TemplateResource) -> Iterator[dict[str, object]]:
        actions = queue.get("JobStateTimeLimitActions")
        if actions is None:
            return
        path: Path = ("queue", "time_limits")
        self.places.put(path, at(actions))
        for index, action in enumerate(self._values.list_of(actions, "JobStateTimeLimitActions")):
            self.places.put((*path, index), at(action))
            reason = self._values.text(action, "Reason")
            after = self._values.required(action, "MaxTimeSeconds")
            self.places.put((*path, index, "reason"), at(action.get("Reason") or action))
            self.places.put((*path, index, "after"), at(after))
            seconds = self._values.whole(after, "MaxTimeSeconds")
            if seconds is not None and seconds < 0:
                self._values.problem(ReadingError.WRONG_VALUE, "'MaxTimeSeconds' is less than 0", "", at(after))
            yield {"reason": reason, "after": seconds}

    def _environment_capacity(self) -> dict[str, object]:
        environment = self._resources.environment
        if environment is None:
            order = self._resources.queue.get("ServiceEnvironmentOrder")
            place = self._resources.queue.place if order is None else at(order)
            self._values.problem(
                ReadingError.MADE_ELSEWHERE,
                "the queue's service environment is not known here, so the queue is not judged",
                "judge it together with the template that makes its service environment",
                place,
            )
            return {}
        return self._capacity(environment.properties, ("capacity",))

    def _capacity(self, holder: Node, path: Path) -> dict[str, object]:
        limits = self._values.required(holder, "CapacityLimits")
        if limits.value is None:
            return {}
        self.places.put(path, at(limits))
        capacity: dict[str, object] = {}
        for limit in self._values.list_of(limits, "CapacityLimits"):
            unit, most = self._values.text(limit, "CapacityUnit"), self._values.required(limit, "MaxCapacity")
            if unit is None:
                continue
            if unit in capacity:
                self._values.problem(
                    ReadingError.DUPLICATE_KEY, f"{unit} has two capacity limits", "keep one of them", at(limit)
                )
            self.places.put((*path, unit), at(most), name=at(limit.get("CapacityUnit") or limit))
            capacity[unit] = self._values.whole(most, "MaxCapacity")
        return capacity

    def _teams(self) -> dict[str, object]:
        teams: dict[str, dict[str, object]] = {}
        names: set[str] = set()
        for share in self._resources.shares:
            tags = self._tags(share, ())
            team = tags.pop(TEAM_TAG, NO_TEAM)
            name = self._values.text(share.properties, "QuotaShareName")
            if name is None:
                continue
            if name in names:
                self._values.problem(
                    ReadingError.DUPLICATE_KEY,
                    f"the queue has two quota shares named {described(name)}",
                    "give one of them another name",
                    share.place,
                )
                continue
            names.add(name)
            tag = share.get("Tags", TEAM_TAG)
            if team not in teams:
                self.places.put(("teams", team), self._resources.queue.place if tag is None else at(tag))
            path: Path = ("teams", team, "shares", name)
            teams.setdefault(team, {})[name] = self._share(share, path) | {"tags": tags}
        return {team: {"shares": shares} for team, shares in teams.items()}

    def _share(self, share: TemplateResource, path: Path) -> dict[str, object]:
        self.places.put(path, share.place, name=at(share.get("QuotaShareName") or share.properties))
        sharing = self._values.required(share.properties, "ResourceSharingConfiguration")
        words = [each.value for each in ResourceSharingStrategy]
        strategy = None if sharing.value is None else self._values.choice(sharing, "Strategy", words)
        preemption = share.get("PreemptionConfiguration", "InSharePreemption")
        state = share.get("State")
        self._tags(share, (*path, "tags"))
        self.places.put((*path, "strategy"), at(sharing.get("Strategy") or sharing))
        data: dict[str, object] = {
            "capacity": self._capacity(share.properties, (*path, "capacity")),
            "strategy": strategy,
        }
        limit = sharing.get("BorrowLimit")
        if limit is not None:
            self.places.put((*path, "borrow_limit"), at(limit))
            percent = self._values.whole(limit, "BorrowLimit")
            unlimited = percent == UNLIMITED and strategy == ResourceSharingStrategy.LEND_AND_BORROW
            data["borrow_limit"] = None if unlimited else percent
        if preemption is not None:
            self.places.put((*path, "in_share_preemption"), at(preemption))
            chosen = self._values.chosen(preemption, "InSharePreemption", ["ENABLED", "DISABLED"])
            data["in_share_preemption"] = chosen == "ENABLED"
        if state is not None:
            self.places.put((*path, "state"), at(state))
            data["state"] = self._values.chosen(state, "State", [each.value for each in ShareState])
        return data

    def _tags(self, resource: TemplateResource, path: Path) -> dict[str, str]:
        """The tags whose values are known. Others have no bearing on anything that is judged."""
        tags = resource.get("Tags")
        if tags is None or not isinstance(tags.value, Mapping):
            return {}
        if path:
            self.places.put(path, at(tags))
        known: dict[str, str] = {}
        for key, node in tags.value.items():
            if key.startswith(TRAINING_PLAN_TAG):
                continue  # Follows from the environment's capacity, whose plans a template does not carry.
            if isinstance(node.value, str | int | float) and not isinstance(node.value, bool):
                known[key] = str(node.value)
                if path:
                    self.places.put((*path, key), at(node))
        return known
