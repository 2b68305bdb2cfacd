"""QM208: teams without shares."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, team_path
from policy_engine.topology.model import Topology


class TeamWithoutShares(TopologyRule):
    """Team without a quota share.

    ## What it checks

    That each team has a quota share.

    ## Why it matters

    A team is what its shares are: nothing of it reaches AWS without one, and its submitters may submit to nothing.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        shares: {}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 2}, strategy: RESERVE}
    ```

    ## References

    - Ours: teams are part of the topology. AWS knows quota shares only.
    """

    id = "QM208"
    severity = Severity.INFO

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each team without shares, if others have some."""
        if next(topology.quota_shares(), None) is None:
            return
        for name, team in topology.teams.items():
            if not team.shares:
                message = f"team {described(name)} has no quota share, so it can submit nothing"
                yield Problem(team_path(name), message, "add a share, or remove the team", Spot.KEY)
