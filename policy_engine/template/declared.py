"""What a template cannot carry, taken from the topology that the template was made from."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from policy_engine.topology.expectations import QUEUE
from policy_engine.topology.model import QuotaShare, Team, Topology

_Named = TypeVar("_Named")
_CARRIED = frozenset({"capacity", "strategy", "borrow_limit", "in_share_preemption", "state", "tags"})
"""What a template says of a quota share."""


def completed(topology: Topology, declared: Topology) -> Topology:
    """A topology that was read from a template, with what is lost on the way from the one that made the template.

    Teams and shares stand in the order of the latter, on which a replay may depend.
    """
    teams = {name: _completed_team(team, declared.teams.get(name)) for name, team in topology.teams.items()}
    teams |= {name: team for name, team in declared.teams.items() if name not in teams and not team.shares}
    teams = _in_order(teams, declared.teams)
    known = {QUEUE, *teams, *(share for team in teams.values() for share in team.shares)}
    same_capacity = declared.capacity == topology.capacity
    return declared.model_copy(
        update={
            "name": topology.name,
            "written_capacity": declared.written_capacity if same_capacity else topology.written_capacity,
            "queue": topology.queue,
            "teams": teams,
            "expectations": {name: each for name, each in declared.expectations.items() if name in known},
        }
    )


def _completed_team(team: Team, declared: Team | None) -> Team:
    if declared is None:
        return team
    shares = {name: _completed_share(share, declared.shares.get(name)) for name, share in team.shares.items()}
    return declared.model_copy(update={"shares": _in_order(shares, declared.shares), "tags": team.tags})


def _completed_share(share: QuotaShare, declared: QuotaShare | None) -> QuotaShare:
    if declared is None:
        return share
    return declared.model_copy(update={name: getattr(share, name) for name in _CARRIED})


def _in_order(things: Mapping[str, _Named], order: Iterable[str]) -> dict[str, _Named]:
    """Things by name, those of the order first."""
    return {name: things[name] for name in dict.fromkeys([*order, *things]) if name in things}
