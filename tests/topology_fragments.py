"""Whole topologies from the fragments that a test is about, and what the rules find in them."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from policy_engine.diagnostics import Finding
from policy_engine.rules import check
from policy_engine.topology import Topology

Fragment = Mapping[str, Any]
Path = tuple[str | int, ...]

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
TIME_LIMITS = [
    {"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "after": "1h"},
    {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "after": "1h"},
]


def complete(fragment: Fragment) -> dict[str, Any]:
    """The fragment as a whole topology, of which no rule finds anything but what the fragment itself has.

    A share without a strategy is RESERVE. Capacity that is left out is what the shares' limits add up to. Shares that
    are left out are one RESERVE share for each instance type. The queue has a time limit for each misconfiguration.
    """
    data = {key: value for key, value in fragment.items() if not key.startswith("x-")}
    if "teams" in data:
        data["teams"] = {name: _complete_team(team) for name, team in data["teams"].items()}
        data.setdefault("capacity", _total(data["teams"]))
    else:
        capacity = data.setdefault("capacity", {G5: 4})
        data |= shares(
            **{f"share_{index}": {"capacity": {unit: _count(n)}} for index, (unit, n) in enumerate(capacity.items())}
        )
        data["teams"] = {name: _complete_team(team) for name, team in data["teams"].items()}
    return {"name": "ml-training"} | data | {"queue": {"time_limits": TIME_LIMITS} | data.get("queue", {})}


def _count(entry: object) -> int:
    """Instances of an entry of the environment's capacity, or of a list of entries."""
    if isinstance(entry, list):
        return sum(map(_count, entry))
    count = entry["count"] if isinstance(entry, dict) else entry
    assert isinstance(count, int)
    return count


def topology_of(fragment: Fragment) -> Topology:
    return Topology.model_validate(complete(fragment))


def shares(**by_name: Fragment) -> dict[str, Any]:
    """A fragment whose one team, `research`, has these shares; with hyphens for underscores in their names."""
    return {"teams": {"research": {"shares": {name.replace("_", "-"): share for name, share in by_name.items()}}}}


def share(strategy: str, count: int = 4, unit: str = G5, **more: object) -> dict[str, Any]:
    """A share with a limit for one instance type."""
    return {"capacity": {unit: count}, "strategy": strategy, **more}


def share_path(name: str, *rest: str | int) -> Path:
    """The path of, or in, a share of the team `research`."""
    return ("teams", "research", "shares", name, *rest)


def findings_of(rule: str, fragment: Fragment) -> list[Finding]:
    """What one rule finds in the completed fragment."""
    return [finding for finding in check(topology_of(fragment)) if finding.id == rule]


def found(rule: str, fragment: Fragment) -> list[tuple[Path, str]]:
    """Path and message of what one rule finds in the completed fragment."""
    return [(finding.path, finding.message) for finding in findings_of(rule, fragment)]


def _complete_team(team: Fragment) -> dict[str, Any]:
    return {**team, "shares": {name: {"strategy": "RESERVE"} | share for name, share in team["shares"].items()}}


def _total(teams: Fragment) -> dict[str, int]:
    total: Counter[str] = Counter()
    for team in teams.values():
        for each in team["shares"].values():
            total.update({unit: max(0, count) for unit, count in each["capacity"].items()})
    return dict(total)
