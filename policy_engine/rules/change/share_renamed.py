"""QM402: renamed quota shares."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule
from policy_engine.rules.renaming import renames

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class ShareRenamed(ChangeRule):
    """Quota share with another name, which is another share.

    ## What it checks

    That each quota share of a queue that stays keeps its name.

    ## Why it matters

    A share's name cannot be changed. CloudFormation makes a new share and deletes the old one with all its jobs,
    the waiting and the running ones. Submitters that use the old name are refused.

    To rename a share, add the new one, let submitters move, disable the old one, and remove it once it has no jobs.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
            search-old: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
            search-new: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    ```

    ## Use instead

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
            search-old: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
            search-old: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
            search-new: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
    ```

    ## References

    - Documented:
      [AWS::Batch::QuotaShare](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-quotashare.html):
      QuotaShareName and JobQueue are create-only: another value is a replacement.
    - Documented:
      [DeleteQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_DeleteQuotaShare.html): deleting
      a share terminates all of its jobs in the end.
    """

    id = "QM402"
    severity = Severity.ERROR

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each share that is replaced, and each that goes away while one with the same settings comes."""
        if change.queue_ends:
            return
        for old, new in renames(change):
            if not old.retained:
                yield self.at_old(
                    change,
                    old,
                    f"share {described(old.old_name)} is renamed to {described(new.name)}, which makes another share: "
                    "all jobs of the old one are terminated, running and waiting",
                    f"keep {old.old_name} beside {new.name} until it has no jobs",
                )
