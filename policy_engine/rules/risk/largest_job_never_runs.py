"""QM309: largest jobs that can never run."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.amounts import Amounts
from policy_engine.rules.kinds import Problem, TopologyRule, share_named, share_path
from policy_engine.rules.misconfiguration import largest_need, misconfiguration
from policy_engine.topology.model import Topology


class LargestJobNeverRuns(TopologyRule):
    """Largest job that can never run.

    ## What it checks

    That a share's `largest_job` passes the tests that AWS makes of a job at the front: it needs no more than the
    environment has; than the share's limit, if it does not borrow; than limit and borrow limit, if it does; than limit
    and all that the other shares could lend.

    ## Why it matters

    Batch does not refuse such a job. It stays RUNNABLE at the front of its share, and the jobs behind it wait, until a
    time limit ends it.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 2}
            strategy: LEND_AND_BORROW
            borrow_limit: 100
            largest_job: {ml.g5.xlarge: 5}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 1}, strategy: LEND}
          search-background:
            capacity: {ml.g5.xlarge: 5}
            strategy: LEND_AND_BORROW
            largest_job: {ml.g5.xlarge: 5}
    ```

    ## References

    - Documented: [Jobs stuck in RUNNABLE due to
      misconfiguration](https://docs.aws.amazon.com/batch/latest/userguide/sm_job_stuck_in_runnable_misconfiguration.html):
      the four tests, and the status reason that each shows.
    - Inferred: the tests are made in this order, and an instance type that the share has no limit for cannot be
      borrowed.
    """

    id = "QM309"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each largest job that fails one of the tests, with the first that it fails."""
        amounts = Amounts(topology)
        for owned in topology.quota_shares():
            need = largest_need(owned.share)
            failed = misconfiguration(amounts, owned.share, need)
            if failed:
                needed = f"{need[failed.unit]} {failed.unit}"
                yield Problem(
                    (*share_path(owned), "largest_job", failed.unit),
                    f"the largest job of {share_named(owned)} can never run: it needs {needed}, but {failed.bound}. "
                    f"AWS would show: {failed.status_reason}",
                    f"{failed.help}, or make the job smaller",
                )
