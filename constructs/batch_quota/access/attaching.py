"""To whom CloudFormation attaches policies: it takes names without an account, so the account must be the right one."""

from collections.abc import Iterable, Sequence

from aws_cdk import Aws, CfnCondition, Fn, Stack, Token
from constructs import Construct

from batch_quota.validation import is_token
from policy_engine.topology.identities import Identity


class AccountPrincipals:
    """The names of principals of a stack's account. If that is known at deployment only, the template compares it."""

    def __init__(self, scope: Construct) -> None:
        """Make names for policies below a scope, which gets the conditions that they need."""
        self._scope = scope
        self._account = Stack.of(scope).account
        self._account_is_known = not is_token(self._account)
        self._conditions: dict[str, str] = {}
        self._lists: dict[tuple[tuple[str, tuple[str, ...]], ...], Sequence[str]] = {}

    @property
    def account(self) -> str | None:
        """The stack's account, or None if it is known at deployment only."""
        return self._account if self._account_is_known else None

    def names(self, identities: Iterable[Identity]) -> Sequence[str] | None:
        """What a policy's `Roles` or `Users` have to be, in alphabetical order; None if there is nobody."""
        by_account: dict[str, set[str]] = {}
        for found in identities:
            by_account.setdefault(found.account, set()).add(found.name)
        if self._account_is_known:
            return sorted(by_account.get(self._account, ())) or None
        if not by_account:
            return None
        key = tuple((account, tuple(sorted(names))) for account, names in sorted(by_account.items()))
        if key not in self._lists:
            self._lists[key] = self._compared(key)
        return self._lists[key]

    def _compared(self, by_account: Iterable[tuple[str, Sequence[str]]]) -> Sequence[str]:
        names: object = {"Ref": "AWS::NoValue"}
        for account, those in by_account:
            # As plain data: `Fn.condition_if` would cost a round trip to Node for each.
            names = {"Fn::If": [self._is_account(account), list(those), names]}
        return Token.as_list(names)

    def _is_account(self, account: str) -> str:
        if account not in self._conditions:
            condition = CfnCondition(
                self._scope, f"IsAccount{account}", expression=Fn.condition_equals(Aws.ACCOUNT_ID, account)
            )
            self._conditions[account] = condition.logical_id
        return self._conditions[account]
