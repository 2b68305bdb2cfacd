"""QM206: share names that are easily confused."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_named, share_path
from policy_engine.topology.model import Topology


class ShareNamesAlike(TopologyRule):
    """Quota shares whose names differ in case or in - and _ only.

    ## What it checks

    That the names of any two quota shares differ in more than upper and lower case, and hyphens for underscores.

    ## Why it matters

    A submitter names the share with each job. Who mistypes it then does not get an error, but another team's share, if
    allowed there; and dashboards and bills have two lines that look like one.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
          search_Prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
          search-retraining: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Inferred: AWS takes both names. It documents letters of both cases, and nothing on whether they are told apart.
    """

    id = "QM206"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each share whose name looks like an earlier one's."""
        first: dict[str, str] = {}
        for owned in topology.quota_shares():
            earlier = first.setdefault(owned.name.casefold().replace("_", "-"), owned.name)
            if earlier != owned.name:
                yield Problem(
                    share_path(owned),
                    f"the name of {share_named(owned)} is easily taken for that of {described(earlier)}",
                    "rename one of them",
                    Spot.KEY,
                )
