"""QM214: submitters that cannot all be in the queue's account."""

import re
from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule, team_path
from policy_engine.topology.model import Topology

_ACCOUNT = re.compile(r"arn:[^:]*:iam::([0-9]{12}):(?:role|user)/.*", re.ASCII | re.DOTALL)


class SubmittersOfSeveralAccounts(TopologyRule):
    """Submitters of several accounts.

    ## What it checks

    That the `submitters` of all teams are roles and users of one AWS account.

    ## Why it matters

    The queue is in one account, and its principals get access by a policy of their own. A principal of another account
    would need a policy on the queue as well, which AWS Batch does not have: its submissions are refused.

    ## Example

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:iam::111122223333:role/search-data-science
          - arn:aws:iam::444455556666:role/search-pipelines
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    A role of the queue's account, which principals of the other account may assume.

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:iam::111122223333:role/search-data-science
          - arn:aws:iam::111122223333:role/search-pipelines-from-444455556666
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [Cross-account policy evaluation
      logic](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic-cross-account.html):
      access to another account's resource needs a resource-based policy, or a role of that account.
    - Documented: [How AWS Batch works with
      IAM](https://docs.aws.amazon.com/batch/latest/userguide/security_iam_service-with-iam.html): no resource-based
      policies.
    """

    id = "QM214"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The first submitter of each account after the first."""
        seen: dict[str, None] = {}
        for name, team in topology.teams.items():
            for index, arn in enumerate(team.submitters):
                match = _ACCOUNT.fullmatch(arn)
                if match is None or match[1] in seen:
                    continue
                if seen:
                    yield Problem(
                        (*team_path(name), "submitters", index),
                        f"submitter {described(arn)} of team {described(name)} is of account {match[1]}, "
                        f"others are of {next(iter(seen))}; the queue is in one account",
                        "name a role of the queue's account, and let principals of the other account assume it",
                    )
                seen[match[1]] = None
