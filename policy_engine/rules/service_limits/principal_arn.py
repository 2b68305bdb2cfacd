"""QM118: the ARNs of submitters, operators and viewers."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.identities import WRITE_ARN, explained
from policy_engine.rules.kinds import Problem, TopologyRule, team_path
from policy_engine.topology.identities import identity, principals
from policy_engine.topology.model import Topology


class PrincipalArn(TopologyRule):
    """Principal that is not the ARN of an IAM role or user.

    ## What it checks

    That each of a team's `submitters`, `operators` and `viewers` is the ARN of an IAM role or user. Refused are
    wildcards, groups, whole accounts, services, and the sessions of assumed roles, for which the role itself is meant.

    ## Why it matters

    AWS Batch has no resource-based policies, so access to a quota share is a policy that is attached to an identity. A
    wildcard or a session has none, a group is no principal, and a whole account is more than a team.

    ## Example

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:sts::111122223333:assumed-role/search-data-science/alice
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        submitters:
          - arn:aws:iam::111122223333:role/search-data-science
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [How AWS Batch works with
      IAM](https://docs.aws.amazon.com/batch/latest/userguide/security_iam_service-with-iam.html): identity-based
      policies, no resource-based ones.
    - Documented: [IAM identifiers](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html): the
      form of ARNs.
    - Documented:
      [Principal](https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_principal.html): what is
      a principal; groups are not.
    """

    id = "QM118"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each principal that is something else."""
        for name, team in topology.teams.items():
            for key, index, arn in principals(team):
                if identity(arn) is None:
                    wrong, mend = explained(arn) or ("not the ARN of an IAM role or user", WRITE_ARN)
                    message = f"{key.removesuffix('s')} {described(arn)} of team {described(name)} is {wrong}"
                    yield Problem((*team_path(name), key, index), message, mend)
