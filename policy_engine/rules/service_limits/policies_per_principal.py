"""QM120: policies of a principal that several teams name."""

from collections import Counter
from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule, team_path
from policy_engine.topology.identities import identity, may_operate, may_submit, may_view, principals
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_MANAGED_POLICIES


class PoliciesPerPrincipal(TopologyRule):
    """Principal that needs more than 10 managed policies.

    ## What it checks

    That no principal needs more than 10 managed policies: a team's submitters get 2, its operators 3, its viewers 1,
    more if it has very many shares with long names. Roles of IAM Identity Center, which get none, do not count.

    ## Why it matters

    An IAM role or user takes 10 managed policies, unless AWS has raised the account's quota, and those that it has from
    elsewhere count too. The deployment would fail at the eleventh.

    ## Example

    ```yaml
    teams:
      search:
        operators: &on-call ["arn:aws:iam::111122223333:role/on-call"]
        shares:
          search: {capacity: {ml.g5.xlarge: 1}, strategy: RESERVE}
      vision:
        operators: *on-call
        shares:
          vision: {capacity: {ml.g5.xlarge: 1}, strategy: RESERVE}
      speech:
        operators: *on-call
        shares:
          speech: {capacity: {ml.g5.xlarge: 1}, strategy: RESERVE}
      research:
        operators: *on-call
        shares:
          research: {capacity: {ml.g5.xlarge: 1}, strategy: RESERVE}
    ```

    ## Use instead

    Who operates for everybody gets access to the whole queue in the CDK app: `quota.queue.grant_operate(role)`. Or
    raise the quota, and suppress this finding.

    ```yaml
    teams:
      search:
        operators: ["arn:aws:iam::111122223333:role/search-on-call"]
        shares:
          search: {capacity: {ml.g5.xlarge: 1}, strategy: RESERVE}
      vision:
        operators: ["arn:aws:iam::111122223333:role/vision-on-call"]
        shares:
          vision: {capacity: {ml.g5.xlarge: 1}, strategy: RESERVE}
    ```

    ## References

    - Documented: [IAM and AWS STS
      quotas](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html): managed policies attached to
      a role or user, 10 by default.
    - Ours: how many policies a team's principals get.
    """

    id = "QM120"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each principal with too many, where it is named last."""
        teams = [team for team in topology.teams.values() if team.shares]
        needed = Counter(
            arn for team in teams for arns in (may_submit(team), may_operate(team), may_view(team)) for arn in arns
        )
        last = {
            arn: (*team_path(name), key, index)
            for name, team in topology.teams.items()
            for key, index, arn in principals(team)
        }
        for arn, count in needed.items():
            found = identity(arn)
            if count > MAX_MANAGED_POLICIES and found is not None and not found.is_of_identity_center:
                yield Problem(
                    last[arn],
                    f"{found.kind} {described(found.name)} needs {count} managed policies, and IAM attaches "
                    f"{MAX_MANAGED_POLICIES} to one, unless the quota is raised",
                    "name a role of its own for some teams, or grant access to the whole queue in the CDK app",
                )
