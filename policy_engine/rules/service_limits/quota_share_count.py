"""QM101: the number of quota shares."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_path
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_QUOTA_SHARES


class QuotaShareCount(TopologyRule):
    """More than 20 quota shares.

    ## What it checks

    The number of quota shares of all teams together.

    ## Why it matters

    AWS Batch allows 20 quota shares in a job queue, and does not raise the limit. The deployment would fail at the
    21st.

    ## Example

    ```yaml
    x-one-instance: &one {capacity: {ml.g5.xlarge: 1}, strategy: RESERVE}
    teams:
      research:
        shares: {r1: *one, r2: *one, r3: *one, r4: *one, r5: *one, r6: *one,
                 r7: *one, r8: *one, r9: *one, r10: *one, r11: *one}
      search:
        shares: {s1: *one, s2: *one, s3: *one, s4: *one, s5: *one, s6: *one,
                 s7: *one, s8: *one, s9: *one, s10: *one}
    ```

    ## Use instead

    One share for each purpose of a team, not for each person: submitters of one share are told apart by priorities.

    ```yaml
    teams:
      research:
        shares:
          research: {capacity: {ml.g5.xlarge: 11}, strategy: RESERVE}
      search:
        shares:
          search: {capacity: {ml.g5.xlarge: 10}, strategy: RESERVE}
    ```

    ## References

    - Documented: [AWS Batch service quotas](https://docs.aws.amazon.com/batch/latest/userguide/service_limits.html): 20
      quota shares in a queue with quota management, not adjustable.
    """

    id = "QM101"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The first share that is too many."""
        shares = list(topology.quota_shares())
        if len(shares) > MAX_QUOTA_SHARES:
            yield Problem(
                share_path(shares[MAX_QUOTA_SHARES]),
                f"the queue has {len(shares)} quota shares; AWS allows {MAX_QUOTA_SHARES}, and this is one too many",
                "join shares that have one purpose, or move teams to a second queue with an environment of its own",
                Spot.KEY,
            )
