"""QM407: lowered limits of quota shares."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class ShareLimitLowered(ChangeRule):
    """Capacity limit of a quota share that is lowered.

    ## What it checks

    That no capacity limit of a quota share is lowered or taken away.

    ## Why it matters

    Jobs above the new limit, running ones too, can be preempted, also those of LEND and RESERVE shares. AWS does
    not say whether they are stopped at once or once another share needs the capacity. A waiting job that is larger
    than the new limit may never run.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 2}
              strategy: LEND
    ```

    ## Use instead

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 6}
              strategy: LEND
    ```

    ## References

    - Documented: [Quota shares](https://docs.aws.amazon.com/batch/latest/userguide/quota-shares.html): after a
      limit is lowered, jobs of the share can be preempted, with any strategy.
    - Inferred: when they are stopped is not said.
    """

    id = "QM407"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each limit of a share that stays, if it is lowered or gone."""
        for share in change.shares("update"):
            for unit, limit in share.capacity():
                if limit.lowered:
                    now = (
                        "has no limit any more" if limit.new is None else f"is lowered from {limit.old} to {limit.new}"
                    )
                    yield self.at_new(
                        change,
                        share,
                        f"{unit} of share {described(share.name)} {now}: jobs above it can be preempted",
                        "lower it when the share uses less, or accept the preemptions",
                        (*share.either.path, "capacity", *([] if limit.new is None else [unit])),
                    )
