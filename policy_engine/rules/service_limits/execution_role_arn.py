"""QM119: the ARNs of execution roles."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.identities import WRITE_ARN, explained
from policy_engine.rules.kinds import Problem, TopologyRule, team_path
from policy_engine.topology.identities import identity
from policy_engine.topology.model import Topology

_NAME_THE_ROLE = "name the role that the team's training jobs run as"


class ExecutionRoleArn(TopologyRule):
    """Execution role that is not the ARN of an IAM role.

    ## What it checks

    That each of a team's `execution_roles` is the ARN of one IAM role. Refused are wildcards, users, roles that belong
    to an AWS service, and roles of IAM Identity Center.

    ## Why it matters

    The team's submitters get `iam:PassRole` for exactly these roles. With a wildcard they could run a job as any role
    that trusts SageMaker, and so with the data of other teams. What is no role, or belongs to AWS, cannot be passed.

    ## Example

    ```yaml
    teams:
      search:
        submitters: ["arn:aws:iam::111122223333:role/search-data-science"]
        execution_roles: ["arn:aws:iam::111122223333:role/search-*"]
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        submitters: ["arn:aws:iam::111122223333:role/search-data-science"]
        execution_roles: ["arn:aws:iam::111122223333:role/search-training"]
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [Grant a user permissions to pass a role to an AWS
      service](https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html): `iam:PassRole` names roles,
      and a service-linked role cannot be passed.
    - Documented: [How to use SageMaker AI execution
      roles](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-roles.html): what a training job's `RoleArn` is.
    """

    id = "QM119"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each execution role that is something else."""
        for name, team in topology.teams.items():
            for index, arn in enumerate(team.execution_roles):
                found = _problem(arn)
                if found is not None:
                    wrong, mend = found
                    message = f"execution role {described(arn)} of team {described(name)} is {wrong}"
                    yield Problem((*team_path(name), "execution_roles", index), message, mend)


def _problem(arn: str) -> tuple[str, str] | None:
    role = identity(arn)
    if role is None:
        return explained(arn) or ("not the ARN of an IAM role", WRITE_ARN)
    if not role.is_role:
        return "a user, and jobs run as roles", _NAME_THE_ROLE
    if role.is_service_linked:
        return "a service-linked role, which only its service uses", _NAME_THE_ROLE
    if role.is_of_identity_center:
        return "a role of IAM Identity Center, which trusts no service", _NAME_THE_ROLE
    return None
