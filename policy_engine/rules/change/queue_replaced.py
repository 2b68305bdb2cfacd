"""QM403: queues that are replaced."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class QueueReplaced(ChangeRule):
    """Queue with another name, which is another queue.

    ## What it checks

    That a queue keeps its name.

    ## Why it matters

    Names are create-only: CloudFormation makes a new queue, and new shares in it, since a share cannot change its
    queue. Then it deletes the old ones with all their jobs, the waiting and the running ones. Submitters that use
    the old name are refused.

    In a topology the queue is named after the topology. To rename it, deploy a second queue with a part of the
    capacity, and move teams over.

    ## Example

    ```yaml
    before:
      name: ml-training
      capacity: {ml.g5.xlarge: 8}
    after:
      name: ml-training-eu
      capacity: {ml.g5.xlarge: 8}
    ```

    ## Use instead

    ```yaml
    before:
      name: ml-training
      capacity: {ml.g5.xlarge: 8}
    after:
      name: ml-training
      capacity: {ml.g5.xlarge: 8}
    ```

    ## References

    - Documented:
      [AWS::Batch::JobQueue](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-jobqueue.html):
      JobQueueName and JobQueueType are create-only: another value is a replacement.
    - Documented:
      [AWS::Batch::QuotaShare](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-quotashare.html):
      JobQueue is create-only, too.
    - Documented: [DeleteJobQueue](https://docs.aws.amazon.com/batch/latest/APIReference/API_DeleteJobQueue.html):
      deleting a queue terminates its jobs in the end.
    """

    id = "QM403"
    severity = Severity.ERROR

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """The queue, if it is replaced while anything of it is not retained."""
        queue = change.queue
        if queue is None or queue.action != "replace" or change.old is None:
            return
        shares = change.shares("replace", "remove")
        if queue.retained and all(share.retained for share in shares):
            return
        yield self.at_new(
            change,
            queue,
            f"queue {described(queue.old_name)} is replaced by {described(queue.name)}: "
            "all jobs of all its shares are terminated, running and waiting",
            f"keep the name {queue.old_name}, or deploy the new queue beside the old one and move teams over",
            ("name",),
        )
