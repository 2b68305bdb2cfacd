"""QM209: teams without submitters."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, team_path
from policy_engine.topology.identities import may_submit
from policy_engine.topology.model import Topology


class TeamWithoutSubmitters(TopologyRule):
    """Team without submitters, among teams that have some.

    ## What it checks

    That each team with quota shares has `submitters` or `operators`, who may submit too, as soon as one team of the
    topology has.

    ## Why it matters

    Who manages access by the topology has probably forgotten the team: nobody may submit to its shares, and what it
    does not lend is idle. A topology without any submitters is not reported: it leaves access to something else.

    ## Example

    ```yaml
    teams:
      search:
        submitters: ["arn:aws:iam::111122223333:role/search-data-science"]
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        submitters: ["arn:aws:iam::111122223333:role/search-data-science"]
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        submitters: ["arn:aws:iam::111122223333:role/vision-data-science"]
        shares:
          vision-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Ours: `submitters` is a key of the topology.
    - Documented: [Identity-based policy
      examples](https://docs.aws.amazon.com/batch/latest/userguide/security_iam_id-based-policy-examples.html): by
      default, users and roles may do nothing in AWS Batch.
    """

    id = "QM209"
    severity = Severity.INFO

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each team with shares to which nobody may submit, if somebody may submit to those of another team."""
        if not any(may_submit(team) for team in topology.teams.values()):
            return
        for name, team in topology.teams.items():
            if team.shares and not may_submit(team):
                yield Problem(
                    team_path(name),
                    f"team {described(name)} has no submitters, while others have: nobody may submit to its shares",
                    "add submitters: [ARN, …], the roles and users that may submit",
                    Spot.KEY,
                )
