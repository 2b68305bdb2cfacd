"""QM414: more than 20 quota shares during a deployment."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import ChangeProblem, ChangeRule, Problem, Spot
from policy_engine.topology.service_limits import MAX_QUOTA_SHARES

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class TooManySharesMeanwhile(ChangeRule):
    """More than 20 quota shares while the deployment runs.

    ## What it checks

    That the shares that stay, those that are added and those that are removed are 20 at most, together.

    ## Why it matters

    CloudFormation adds shares before it removes others. A queue that has 20 and exchanges one would have 21 for a
    moment. AWS allows 20: the deployment fails, and is rolled back. Remove first, and add in the next deployment.

    ## Example

    ```yaml
    x-one: &one {capacity: {ml.g5.xlarge: 1}, strategy: LEND}
    before:
      capacity: {ml.g5.xlarge: 20}
      teams:
        search:
          shares:
            share-1: *one
            share-2: *one
            share-3: *one
            share-4: *one
            share-5: *one
            share-6: *one
            share-7: *one
            share-8: *one
            share-9: *one
            share-10: *one
            share-11: *one
            share-12: *one
            share-13: *one
            share-14: *one
            share-15: *one
            share-16: *one
            share-17: *one
            share-18: *one
            share-19: *one
            share-20: *one
    after:
      capacity: {ml.g5.xlarge: 20}
      teams:
        search:
          shares:
            share-2: *one
            share-3: *one
            share-4: *one
            share-5: *one
            share-6: *one
            share-7: *one
            share-8: *one
            share-9: *one
            share-10: *one
            share-11: *one
            share-12: *one
            share-13: *one
            share-14: *one
            share-15: *one
            share-16: *one
            share-17: *one
            share-18: *one
            share-19: *one
            share-20: *one
            share-21: *one
    ```

    ## Use instead

    ```yaml
    x-one: &one {capacity: {ml.g5.xlarge: 1}, strategy: LEND}
    before:
      capacity: {ml.g5.xlarge: 20}
      teams:
        search:
          shares:
            share-2: *one
            share-3: *one
            share-4: *one
            share-5: *one
            share-6: *one
            share-7: *one
            share-8: *one
            share-9: *one
            share-10: *one
            share-11: *one
            share-12: *one
            share-13: *one
            share-14: *one
            share-15: *one
            share-16: *one
            share-17: *one
            share-18: *one
            share-19: *one
            share-20: *one
    after:
      capacity: {ml.g5.xlarge: 20}
      teams:
        search:
          shares:
            share-2: *one
            share-3: *one
            share-4: *one
            share-5: *one
            share-6: *one
            share-7: *one
            share-8: *one
            share-9: *one
            share-10: *one
            share-11: *one
            share-12: *one
            share-13: *one
            share-14: *one
            share-15: *one
            share-16: *one
            share-17: *one
            share-18: *one
            share-19: *one
            share-20: *one
            share-21: *one
    ```

    ## References

    - Documented: [Service quotas](https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html): 20
      quota shares a queue, which AWS does not raise.
    - Documented:
      [Update behaviors of stack resources](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html):
      what is no longer needed is removed after everything else.
    """

    id = "QM414"
    severity = Severity.ERROR

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """The queue, if there are more shares meanwhile than AWS allows, and not more in the end."""
        if change.queue_ends or change.old is None or change.new is None:
            return
        added, removed = len(change.shares("add", "replace")), len(change.shares("remove", "replace"))
        meanwhile = len(change.old.shares) + added
        if meanwhile > MAX_QUOTA_SHARES >= len(change.new.shares):
            yield ChangeProblem(
                change.new,
                Problem(
                    ("teams",),
                    f"the queue would have {meanwhile} shares while the deployment runs, since {added} are added "
                    f"before {removed} are removed: AWS allows {MAX_QUOTA_SHARES}, and the deployment fails",
                    "remove shares in one deployment, and add the others in the next",
                    Spot.KEY,
                ),
                change.name,
            )
