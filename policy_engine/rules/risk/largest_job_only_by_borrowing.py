"""QM310: largest jobs that need borrowed instances."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts, limit, listed
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.rules.misconfiguration import largest_need, misconfiguration
from policy_engine.topology.model import Topology


class LargestJobOnlyByBorrowing(TopologyRule):
    """Largest job that runs only on borrowed instances.

    ## What it checks

    That a share's `largest_job` needs no more than the share's own limit. A job that can never run is QM309.

    ## Why it matters

    The job starts when others happen to be idle, and is preempted when they have jobs again, whatever its priority. It
    starts over from nothing, unless it keeps checkpoints, and by default without end: it may never finish, and use
    capacity all the while. In the replay it also waits longest: nothing is set aside for a job that has to borrow, so
    smaller ones take what becomes idle.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 2}
            strategy: LEND_AND_BORROW
            largest_job: {ml.g5.xlarge: 4}
    ```

    ## Use instead

    A limit as large as the largest job. Where that is too dear, let submitters set preemption retries and keep
    checkpoints, and suppress this rule with that reason.

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 2}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 4}
            strategy: LEND_AND_BORROW
            largest_job: {ml.g5.xlarge: 4}
    ```

    ## References

    - Documented: [Preemption](https://docs.aws.amazon.com/batch/latest/userguide/preemption.html): jobs on borrowed
      capacity are preempted when the owner has jobs; by default they return to RUNNABLE without end.
    - Observed: [AWS's example
      notebook](https://github.com/aws/sagemaker-python-sdk/tree/master/v3-examples/training-examples/aws_batch): the
      owner's job needs no higher priority.
    - Inferred: a job above its share's limit always borrows, so it can be preempted whenever it runs.
    """

    id = "QM310"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each largest job above its share's own limits that could run all the same."""
        amounts = Amounts(topology)
        for owned in topology.quota_shares():
            share = owned.share
            need = largest_need(share)
            above = [(unit, n, limit(share.capacity, unit)) for unit, n in need.items()]
            above = [(unit, n, own) for unit, n, own in above if n > own]
            if above and misconfiguration(amounts, share, need) is None:
                borrowed = listed([f"{n - own} of its {n} {unit}" for unit, n, own in above])
                yield Problem(
                    (*share_path(owned), "largest_job", above[0][0]),
                    f"the largest job of {share_named(owned)} has to borrow {borrowed}: "
                    "it can be preempted whenever it runs, and for ever",
                    f"raise the share's limit to {listed([f'{n} {unit}' for unit, n, _ in above])}, "
                    "or let it keep checkpoints and set preemption retries",
                )
