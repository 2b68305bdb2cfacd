"""QM410: in-share preemption that is switched on."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class InSharePreemptionEnabled(ChangeRule):
    """In-share preemption that is switched on for running jobs.

    ## What it checks

    That no share that exists gets in-share preemption.

    ## Why it matters

    From then on a waiting job preempts running jobs of lower priority in its share, also those that were submitted
    when they were safe. Those without checkpoints lose their work.

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
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
              in_share_preemption: true
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
              in_share_preemption: true
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    ```

    ## References

    - Documented: [Preemption](https://docs.aws.amazon.com/batch/latest/userguide/preemption.html): with in-share
      preemption, jobs of higher priority preempt jobs of lower priority in the same share.
    - Inferred: jobs that run already when it is switched on are not spared.
    """

    id = "QM410"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each share that stays and gets in-share preemption."""
        for share in change.shares("update"):
            preemption = share.setting("in-share preemption")
            if preemption is not None and preemption.new == "ENABLED":
                yield self.at_new(
                    change,
                    share,
                    f"share {described(share.name)} gets in-share preemption: "
                    "running jobs of lower priority can be preempted",
                    "tell the team, so that its jobs have checkpoints and priorities",
                    (*share.either.path, "in_share_preemption"),
                )
