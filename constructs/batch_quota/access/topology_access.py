"""Access from a topology: the policies of all its teams."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aws_cdk import Annotations
from constructs import Construct

from batch_quota.access.granting import IDENTITY_CENTER
from batch_quota.access.options import AccessOptions
from batch_quota.access.team_policies import TeamPolicies
from batch_quota.access.team_terms import TeamTerms
from policy_engine.diagnostics import Finding
from policy_engine.rules.consistency.identity_center_principal import IdentityCenterPrincipal


class TopologyAccess(Construct):
    """The policies of all teams of a topology that name somebody."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        topology_name: str,
        teams: Mapping[str, TeamTerms],
        options: AccessOptions,
        findings: Iterable[Finding] = (),
    ) -> None:
        """Make the policies.

        :param topology_name: Stands in the policies' names, if they have any.
        :param teams: The terms of the teams with shares.
        :param options: How the policies are named.
        :param findings: What the rules found in the topology. Those that people have to act upon become warnings.
        :raises ValueError: If a policy would get a name that IAM refuses.
        """
        super().__init__(scope, id_)
        prefix = options.managed_policy_name_prefix
        self._teams = MappingProxyType(
            {
                name: TeamPolicies(
                    self,
                    name or "-",
                    terms=terms,
                    name_start=None if prefix is None else f"{prefix}-{topology_name}-{name}",
                )
                for name, terms in teams.items()
            }
        )
        for finding in findings:
            if finding.id == IdentityCenterPrincipal.id:
                Annotations.of(self).add_warning_v2(IDENTITY_CENTER, f"{finding.message}; {finding.help}.")

    @property
    def teams(self) -> Mapping[str, TeamPolicies]:
        """The policies of each team with shares."""
        return self._teams
