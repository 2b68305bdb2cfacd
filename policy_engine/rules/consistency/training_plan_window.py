"""QM216: when training plans start and end."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.instants import format_instant
from policy_engine.topology.model import Topology


class TrainingPlanWindow(TopologyRule):
    """Training plan that ends before jobs can use it.

    ## What it checks

    That a training plan's `until` is more than 30 minutes after its `from`.

    ## Why it matters

    SageMaker takes a plan's instances back from 30 minutes before the reserved capacity ends. What ends sooner has no
    time in which jobs could run; mostly the two times were swapped, or a zone is wrong.

    ## Example

    ```yaml
    capacity:
      ml.p5.48xlarge:
        count: 4
        training_plan:
          arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring
        from: 2026-04-01T11:30:00Z
        until: 2026-03-02T11:30:00Z
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.p5.48xlarge: 4}, strategy: RESERVE}
    suppressions:
      - {rule: QM315, reason: the limits follow the plan}
    ```

    ## Use instead

    ```yaml
    capacity:
      ml.p5.48xlarge:
        count: 4
        training_plan:
          arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring
        from: 2026-03-02T11:30:00Z
        until: 2026-04-01T11:30:00Z
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.p5.48xlarge: 4}, strategy: RESERVE}
    suppressions:
      - {rule: QM315, reason: the limits follow the plan}
    ```

    ## References

    - Documented: [Training plans utilization for SageMaker training
      jobs](https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-training-jobs.html).
    """

    id = "QM216"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each plan without a time in which its instances are there."""
        for entry in topology.capacity_entries():
            plan = entry.plan
            if plan is not None and plan.reclaimed_at <= plan.starts_at:
                yield Problem(
                    (*entry.path, "until"),
                    f"the plan's instances of {entry.unit} are taken back at {format_instant(plan.reclaimed_at)}, "
                    f"30 minutes before its end, and start at {format_instant(plan.starts_at)}",
                    "write an `until` more than 30 minutes after `from`",
                )
