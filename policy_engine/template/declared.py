"""What a template cannot carry, taken from the topology that the template was made from."""

from policy_engine.topology.expectations import QUEUE
from policy_engine.topology.model import QuotaShare, Team, Topology


def completed(topology: Topology, declared: Topology) -> Topology:
    """A topology that was read from a template, with what is lost on the way from the one that made the template."""
    teams = {name: _completed_team(team, declared.teams.get(name)) for name, team in topology.teams.items()}
    teams |= {name: team for name, team in declared.teams.items() if name not in teams and not team.shares}
    known = {QUEUE, *teams, *(share for team in teams.values() for share in team.shares)}
    update: dict[str, object] = {
        "teams": teams,
        "assumptions": declared.assumptions,
        "suppressions": declared.suppressions,
        "expectations": {name: each for name, each in declared.expectations.items() if name in known},
    }
    if declared.capacity == topology.capacity:
        update["written_capacity"] = declared.written_capacity
    return topology.model_copy(update=update)


def _completed_team(team: Team, declared: Team | None) -> Team:
    if declared is None:
        return team
    shares = {name: _completed_share(share, declared.shares.get(name)) for name, share in team.shares.items()}
    return team.model_copy(update={"shares": shares, "submitters": declared.submitters})


def _completed_share(share: QuotaShare, declared: QuotaShare | None) -> QuotaShare:
    if declared is None:
        return share
    return share.model_copy(update={"max_priority": declared.max_priority, "largest_job": declared.largest_job})
