"""Access from a topology: the policies of all its teams."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from aws_cdk import Annotations
from constructs import Construct

from batch_quota.access.attaching import AccountPrincipals
from batch_quota.access.granting import IDENTITY_CENTER
from batch_quota.access.options import AccessOptions
from batch_quota.access.team_policies import TeamPolicies
from batch_quota.access.team_terms import TeamTerms
from batch_quota.acknowledgements import acknowledge_wildcards
from policy_engine.diagnostics import Finding
from policy_engine.rules.consistency.identity_center_principal import IdentityCenterPrincipal
from policy_engine.topology.identities import may_view

_SERVICE_JOBS_REASON = (
    "A service job gets its id when it is submitted, so no policy can name it. What limits the statement is the ARN of "
    "the quota share beside it, or the tag batch-quota:quota-share of the job in its condition."
)
_READING_REASON = (
    "Actions that only read, and that take no resource: the service authorization reference lists none for them."
)


class TopologyAccess(Construct):
    """The policies of all teams of a topology that name somebody. `QuotaManagedQueue` makes it: its `access`."""

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
        account_principals = AccountPrincipals(self)
        prefix = options.managed_policy_name_prefix
        self._teams = MappingProxyType(
            {
                name: TeamPolicies(
                    self,
                    name or "-",
                    terms=terms,
                    account_principals=account_principals,
                    name_start=None if prefix is None else f"{prefix}-{topology_name}-{name}",
                )
                for name, terms in teams.items()
                if may_view(terms.team)
            }
        )
        self._acknowledge(teams.values())
        for finding in findings:
            if finding.id == IdentityCenterPrincipal.id:
                Annotations.of(self).add_warning_v2(IDENTITY_CENTER, f"{finding.message}; {finding.help}.")

    @property
    def teams(self) -> Mapping[str, TeamPolicies]:
        """The policies of each team that has shares and names somebody."""
        return self._teams

    def _acknowledge(self, teams: Iterable[TeamTerms]) -> None:
        """Say of the wildcards in all these policies why they are there."""
        kinds = {kind for team in self._teams.values() for kind, policies in team.policies.items() if policies}
        reasons = {"*": _READING_REASON} if "view" in kinds else {}
        if not kinds.isdisjoint({"submit", "operate"}):
            reasons |= {terms.queue.service_jobs_arn: _SERVICE_JOBS_REASON for terms in teams}
        if reasons:
            acknowledge_wildcards(self, reasons)
