"""What a rule is: a class with an id, a severity and a documented judgement. One rule, one class, one file."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from policy_engine.diagnostics import Finding, Severity, described
from policy_engine.topology.model import OwnedShare, Topology
from policy_engine.topology.quantities import Capacity
from policy_engine.topology.source import Path, SourceMap

if TYPE_CHECKING:
    from policy_engine.change import QueueChange, QueueSetup, ResourceChange
    from policy_engine.template import AccessStatement


class Spot(StrEnum):
    """Which end of `key: value` a problem is about."""

    KEY = "key"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule found: where in the topology, what is wrong, with its values, and how to mend it."""

    path: Path
    message: str
    help: str
    spot: Spot = Spot.VALUE


class Rule(ABC):
    """Something that is checked. The class's docstring is its documentation page, always with the same headings."""

    id: ClassVar[str]
    """QM1xx: service limits. QM2xx: consistency. QM3xx: risk. QM4xx: changes. QM6xx: access."""
    severity: ClassVar[Severity]
    """Errors cannot be suppressed: AWS would refuse the topology, or a part of it could have no effect.

    Of changes, errors are those that terminate jobs, or whose deployment fails.
    """

    def finding(self, problem: Problem, sources: SourceMap) -> Finding:
        """The problem as a finding of this rule, with its position if the source has one."""
        locate = sources.key_position if problem.spot is Spot.KEY else sources.position
        return Finding(self.id, self.severity, problem.message, problem.help, problem.path, locate(problem.path))


class TopologyRule(Rule):
    """A rule that judges a topology by itself."""

    @abstractmethod
    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Everything in the topology that breaks this rule."""


class SuppressionRule(Rule):
    """A rule that judges the topology's suppressions, once it is known what there is to suppress."""

    @abstractmethod
    def problems(self, topology: Topology, found: Sequence[Finding]) -> Iterator[Problem]:
        """Every suppression that breaks this rule, given what the rules of the other kind found."""


class AccessRule(Rule):
    """A rule that judges what the IAM policies beside a queue allow."""

    @abstractmethod
    def problems(self, statement: "AccessStatement") -> Iterator[Problem]:
        """Everything in a statement that breaks this rule. Paths are those of its resources, in their template."""


@dataclass(frozen=True, slots=True)
class ChangeProblem:
    """What a rule found in a change: on which of its two sides it shows, and which resource it is about."""

    side: "QueueSetup"
    problem: Problem
    resource: str
    """The resource's name. What is found can be accepted for it alone."""


class ChangeRule(Rule):
    """A rule that judges what a deployment makes of a queue."""

    @abstractmethod
    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Everything in the change that breaks this rule."""

    def at_new(
        self, change: "QueueChange", of: "ResourceChange", message: str, mend: str, path: Path | None = None
    ) -> ChangeProblem:
        """A problem that shows in what is to be deployed."""
        where = of.either.path if path is None else path
        return ChangeProblem(change.either, Problem(where, message, mend, Spot.VALUE), of.name)

    def at_old(self, change: "QueueChange", of: "ResourceChange", message: str, mend: str) -> ChangeProblem:
        """A problem that shows in what is deployed now: a resource that goes away is nowhere else."""
        side, resource = (change.old or change.either), (of.old or of.either)
        return ChangeProblem(side, Problem(resource.path, message, mend, Spot.KEY), resource.name)


def team_path(team: str) -> Path:
    """Where a team stands in a topology."""
    return ("teams", team)


def share_path(owned: OwnedShare) -> Path:
    """Where a quota share stands in a topology."""
    return ("teams", owned.team, "shares", owned.name)


def capacities(topology: Topology) -> Iterator[tuple[str, Path, Capacity]]:
    """The capacity of the environment and of each share: whose it is, in words, its path, and what it says."""
    yield "the environment", ("capacity",), topology.capacity
    for owned in topology.quota_shares():
        yield share_named(owned), (*share_path(owned), "capacity"), owned.share.capacity


def largest_jobs(topology: Topology) -> Iterator[tuple[str, Path, Capacity]]:
    """The largest job of each share that declares one: whose it is, in words, its path, and what it needs."""
    for owned in topology.quota_shares():
        if owned.share.largest_job is not None:
            yield (
                f"the largest job of {share_named(owned)}",
                (*share_path(owned), "largest_job"),
                owned.share.largest_job,
            )


def share_named(owned: OwnedShare) -> str:
    """A quota share as messages name it: `share 'search-prod'`."""
    return f"share {described(owned.name)}"
