"""QM214: principals and roles that cannot all be in the queue's account."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule, team_path
from policy_engine.topology.identities import identity, principals
from policy_engine.topology.model import Team, Topology

_NOUNS = {
    "submitters": "submitter",
    "operators": "operator",
    "viewers": "viewer",
    "execution_roles": "execution role",
}


class PrincipalsOfSeveralAccounts(TopologyRule):
    """Principals or execution roles of several accounts.

    ## What it checks

    That the `submitters`, `operators`, `viewers` and `execution_roles` of all teams are of one AWS account.

    ## Why it matters

    The queue is in one account, and its principals get access by a policy of their own. A principal of another account
    would need a policy on the queue as well, which AWS Batch does not have: its submissions are refused. Nor can a role
    of another account be passed to a service.

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
    - Documented: [Grant a user permissions to pass a role to an AWS
      service](https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html): the role must be of the
      same account.
    """

    id = "QM214"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The first principal or role of each account after the first."""
        seen: dict[str, None] = {}
        for name, team in topology.teams.items():
            for key, index, arn in (*principals(team), *_execution_roles(team)):
                found = identity(arn)
                if found is None or found.account in seen:
                    continue
                if seen:
                    yield Problem(
                        (*team_path(name), key, index),
                        f"{_NOUNS[key]} {described(arn)} of team {described(name)} is of account {found.account}, "
                        f"others are of {next(iter(seen))}; the queue is in one account",
                        "name a role of the queue's account, and let principals of the other account assume it",
                    )
                seen[found.account] = None


def _execution_roles(team: Team) -> Iterator[tuple[str, int, str]]:
    for index, arn in enumerate(team.execution_roles):
        yield "execution_roles", index, arn
