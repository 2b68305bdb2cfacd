"""QM201: share names across teams."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class ShareNameUnique(TopologyRule):
    """Quota shares with one name.

    ## What it checks

    That no two teams have a quota share of the same name.

    ## Why it matters

    All shares belong to one queue, and AWS knows nothing of teams. The second share of a name would be refused.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          production: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        shares:
          production: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    The team's name in the share's name.

    ```yaml
    teams:
      search:
        shares:
          search-production: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
      vision:
        shares:
          vision-production: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented:
      [AWS::Batch::QuotaShare](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-quotashare.html):
      the ARN of a share is made of the queue's name and the share's.
    - Inferred: so names are unique in a queue.
    """

    id = "QM201"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each share whose name another team's share had first."""
        first: dict[str, str] = {}
        for owned in topology.quota_shares():
            team = first.setdefault(owned.name, owned.team)
            if team != owned.team:
                yield Problem(
                    share_path(owned),
                    f"{share_named(owned)} of team {described(owned.team)} has the name of a share "
                    f"of team {described(team)}; they belong to one queue",
                    "put the team's name into the share's name",
                    Spot.KEY,
                )
