"""The IAM policies of a team: submit, operate, view, attached to the principals that the topology names."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from aws_cdk import Annotations, CfnOutput
from aws_cdk import aws_iam as iam
from constructs import Construct

from batch_quota.access.attaching import AccountPrincipals
from batch_quota.access.granting import OTHER_ACCOUNT
from batch_quota.access.packing import StatementsOf, document, packed
from batch_quota.access.team_terms import TeamTerms
from batch_quota.arns import name_in
from batch_quota.validation import require
from policy_engine.topology.identities import Identity, identity, may_operate, may_submit, may_view

_POLICY_NAME = re.compile(r"[A-Za-z0-9_+=,.@-]{1,128}")
"""IAM API reference, CreatePolicy."""
_LONGEST_SUFFIX = "-operate-20"


class TeamPolicies(Construct):
    """Managed policies of a team, attached to those principals of the stack's account that the topology names.

    `TopologyAccess` makes it, for each team that names somebody.

    Roles of IAM Identity Center take no policies. For them an output has the policy's name: it belongs into the
    permission set, as a customer managed policy.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        terms: TeamTerms,
        account_principals: AccountPrincipals,
        name_start: str | None = None,
    ) -> None:
        """Make the policies that somebody in the team needs.

        :param terms: The team. The tags of its shares' jobs must be known, not tokens.
        :param account_principals: Knows who is of the stack's account.
        :param name_start: How the policies' names start. CloudFormation makes names up if it is left out.
        :raises ValueError: If a name would be one that IAM refuses.
        """
        require(scope, id_, _name_problems(name_start))
        super().__init__(scope, id_)
        self._terms = terms
        self._account_principals = account_principals
        self._name_start = name_start
        self._policies = MappingProxyType(
            {
                "submit": self._make("Submit", may_submit(terms.team), terms.submit),
                "operate": self._make("Operate", may_operate(terms.team), terms.operate),
                "view": self._make("View", may_view(terms.team), terms.view),
            }
        )
        self._warn_of_other_accounts(may_view(terms.team))

    @property
    def policies(self) -> Mapping[str, Sequence[iam.CfnManagedPolicy]]:
        """The policies by what they allow: `submit`, `operate` and `view`.

        None if nobody needs one, and several if the team has more shares than fit into one.
        """
        return self._policies

    def _make(self, what: str, arns: Iterable[str], statements_of: StatementsOf) -> list[iam.CfnManagedPolicy]:
        everybody = [found for found in map(identity, arns) if found is not None]
        if not everybody:
            return []
        attachable = [found for found in everybody if not found.is_of_identity_center]
        made = []
        for number, shares in enumerate(packed(self._terms.shares, statements_of), start=1):
            suffix = "" if number == 1 else str(number)
            policy = iam.CfnManagedPolicy(
                self,
                f"{what}{suffix}",
                managed_policy_name=self._name(what, suffix),
                policy_document=document(statements_of(self._terms.queue, shares)),
                roles=self._account_principals.names(found for found in attachable if found.is_role),
                users=self._account_principals.names(found for found in attachable if not found.is_role),
            )
            self._output_name(f"{what}PolicyName{suffix}", policy, everybody)
            made.append(policy)
        return made

    def _name(self, what: str, suffix: str) -> str | None:
        if self._name_start is None:
            return None
        return f"{self._name_start}-{what.lower()}{f'-{suffix}' if suffix else ''}"

    def _output_name(self, id_: str, policy: iam.CfnManagedPolicy, everybody: Iterable[Identity]) -> None:
        sets = sorted({found.permission_set for found in everybody if found.is_of_identity_center})
        if sets:
            CfnOutput(
                self,
                id_,
                value=name_in(policy.ref),
                description=f"Customer managed policy for the permission set {' and '.join(sets)}",
            )

    def _warn_of_other_accounts(self, arns: Iterable[str]) -> None:
        account = self._account_principals.account
        if account is None:
            return
        others = [arn for arn in arns if (found := identity(arn)) is not None and found.account != account]
        if others:
            Annotations.of(self).add_warning_v2(
                OTHER_ACCOUNT,
                f"{', '.join(others)}: not of account {account}, where the queue is, so no access is given to "
                f"{'it' if len(others) == 1 else 'them'}. Name a role of this account, which others may assume.",
            )


def _name_problems(name_start: str | None) -> Iterator[str]:
    if name_start is not None and _POLICY_NAME.fullmatch(f"{name_start}{_LONGEST_SUFFIX}") is None:
        yield (
            f"managed_policy_name_prefix: expected names of up to 128 letters, digits and _+=,.@-, "
            f"not {name_start + _LONGEST_SUFFIX!r}"
        )
