"""QM418: limits that move from share to share."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import ChangeProblem, ChangeRule, Problem, Spot
from policy_engine.topology.model import Topology

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class LimitsMeanwhile(ChangeRule):
    """Limits above the capacity while the deployment runs.

    ## What it checks

    That the limits of all shares fit into the service environment's capacity at every moment of the deployment, where
    they do before and after it: each share with the greater of its old and new limit, and those that are removed.

    ## Why it matters

    No share refers to another, so CloudFormation updates them in any order and several at once, and removes what is no
    longer needed after everything else. A share that grows may have its new limit before the one that shrinks, or is
    removed, has lost its own. Until then shares are promised more than there is, or for good if an update fails. No
    running job is stopped by that, but jobs within their share's limit may find no room.

    Use two deployments if that matters: lower or remove first, then raise or add.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 6}, strategy: LEND}
        vision:
          shares:
            vision-prod: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
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
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 6}, strategy: LEND}
        vision:
          shares:
            vision-prod: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    after: # and raise the limit of vision-prod in the next deployment
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
        vision:
          shares:
            vision-prod: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    ```

    ## References

    - Documented:
      [DependsOn attribute](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-dependson.html):
      resources that do not depend on each other are dealt with in parallel.
    - Documented:
      [Update behaviors of stack resources](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html):
      what is no longer needed is removed after everything else.
    - Inferred: AWS Batch accepts such limits; nothing is said of a check of their sum.
    """

    id = "QM418"
    severity = Severity.INFO

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each instance type whose limits fit before and after, and not all together."""
        if change.queue_ends or change.old is None or change.new is None:
            return
        old, new = _limits(change.old.topology), _limits(change.new.topology)
        for unit, capacity in change.new.topology.capacity.items():
            before, after = ({share: limits.get(unit, 0) for share, limits in shares.items()} for shares in (old, new))
            most = sum(max(before.get(share, 0), after.get(share, 0)) for share in before | after)
            if sum(before.values()) <= capacity and sum(after.values()) <= capacity < most:
                yield ChangeProblem(
                    change.new,
                    Problem(
                        ("capacity", unit),
                        f"while the deployment runs, the shares' limits may add up to {most} {unit}, of {capacity}: "
                        "CloudFormation updates shares in any order, and removes them last",
                        "lower or remove shares in one deployment, and raise or add others in the next",
                        Spot.KEY,
                    ),
                    change.name,
                )


def _limits(topology: Topology) -> dict[str, dict[str, int]]:
    return {owned.name: dict(owned.share.capacity) for owned in topology.quota_shares()}
