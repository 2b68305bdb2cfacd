"""QM215: principals whose policies belong to IAM Identity Center."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule, team_path
from policy_engine.topology.identities import identity, principals
from policy_engine.topology.model import Topology


class IdentityCenterPrincipal(TopologyRule):
    """Principal of IAM Identity Center, which takes no policy.

    ## What it checks

    Whether `submitters`, `operators` or `viewers` name a role of IAM Identity Center: `AWSReservedSSO_…`.

    ## Why it matters

    IAM refuses to attach a policy to such a role; only its permission set can. The constructs make the team's policies
    all the same and attach them to nothing of that kind. Somebody has to name them in the permission set, as customer
    managed policies, before these principals get any access.

    ## Example

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:iam::111122223333:role/AWSReservedSSO_ds_0123456789abcdef
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    A role that people of the permission set may assume. Or keep it, name the policies from the stack's outputs in the
    permission set, and suppress this finding.

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:iam::111122223333:role/search-data-science
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [Custom permissions of a permission
      set](https://docs.aws.amazon.com/singlesignon/latest/userguide/permissionsetcustom.html): customer managed
      policies are named in it, and must exist in the account.
    - Documented: [IAM roles created by IAM Identity
      Center](https://docs.aws.amazon.com/singlesignon/latest/userguide/identity-center-and-iam-roles.html): it makes
      and manages them.
    """

    id = "QM215"
    severity = Severity.INFO

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each principal that IAM Identity Center owns."""
        for name, team in topology.teams.items():
            for key, index, arn in principals(team):
                found = identity(arn)
                if found is not None and found.is_of_identity_center:
                    yield Problem(
                        (*team_path(name), key, index),
                        f"{key.removesuffix('s')} {described(found.name)} of team {described(name)} belongs to IAM "
                        "Identity Center, so no policy can be attached to it",
                        f"add the team's policies to the permission set {found.permission_set}, as customer managed "
                        "policies; the stack's outputs name them",
                    )
