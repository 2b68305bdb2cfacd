"""QM413: environments that shrink before their shares."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class EnvironmentBeforeShares(ChangeRule):
    """Service environment that shrinks before its quota shares.

    ## What it checks

    That the limits of all shares, as they are before the deployment, fit into the capacity that the service
    environment gets.

    ## Why it matters

    Shares depend on their queue, and the queue on its environment, so CloudFormation always updates the environment
    first. When both are lowered in one deployment, shares are promised more than there is until their own updates
    are through, or for good if one of them fails. No running job is stopped by that, but jobs within their share's
    limit may find no room.

    Use two deployments: lower the shares first, then the environment.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 16}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
        vision:
          shares:
            vision-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
        vision:
          shares:
            vision-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
    ```

    ## Use instead

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 16}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
        vision:
          shares:
            vision-prod: {capacity: {ml.g5.xlarge: 8}, strategy: LEND}
    after: # and lower the environment's capacity in the next deployment
      capacity: {ml.g5.xlarge: 16}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
        vision:
          shares:
            vision-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
    ```

    ## References

    - Documented:
      [DependsOn attribute](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html):
      CloudFormation deals with a resource after those that it refers to, and removes it before them.
    - Documented:
      [Update a service environment](https://docs.aws.amazon.com/batch/latest/userguide/updating-service-environments.html):
      lowering a limit of a service environment stops no job; new dispatches keep to it.
    - Inferred: whether a share within its limit preempts others for room in the environment is not said.
    """

    id = "QM413"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each instance type whose capacity is lowered below the sum of the shares' old limits, some lowered, too."""
        environment = change.environment
        if environment is None or environment.action != "update" or change.old is None:
            return
        for unit, capacity in environment.capacity():
            left = capacity.new if isinstance(capacity.new, int) else 0
            promised = sum(owned.share.capacity.get(unit, 0) for owned in change.old.topology.quota_shares())
            if capacity.lowered and promised > left and _shrinking(change, unit):
                yield self.at_new(
                    change,
                    environment,
                    f"the environment shrinks to {left} {unit} before its shares do, whose limits add up to {promised} "
                    "until then: jobs within their share's limit may find no room",
                    "lower the shares' limits in one deployment, and the environment's capacity in the next",
                    ("capacity", *([] if capacity.new is None else [unit])),
                )


def _shrinking(change: "QueueChange", unit: str) -> bool:
    """Whether a share that has a limit for a unit is removed, or gets a lower one."""
    setting = f"capacity {unit}"
    removed = any(share.old is not None and setting in share.old.settings for share in change.shares("remove"))
    lowered = (share.setting(setting) for share in change.shares("update"))
    return removed or any(limit is not None and limit.lowered for limit in lowered)
