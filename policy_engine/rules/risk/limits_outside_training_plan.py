"""QM315: limits that hold only while a training plan runs."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.capacity import CapacityEntry
from policy_engine.topology.instants import format_instant
from policy_engine.topology.model import Topology


class LimitsOutsideTrainingPlan(TopologyRule):
    """Limits that hold only while a training plan runs.

    ## What it checks

    Whether the limits of all shares for an instance type add up to more than what is there outside its training plans.

    ## Why it matters

    Batch knows of no plan. Before a plan starts and after it ends, the environment's and the shares' limits still let
    jobs be dispatched: they are SCHEDULED, hold their share's quota, and SageMaker fails one that names the plan after
    two days without capacity. What still runs when the instances are taken back, from 30 minutes before the plan's end,
    is lost. Lower the limits in time, or disable the shares, and let jobs checkpoint.

    ## Example

    ```yaml
    capacity:
      ml.p5.48xlarge:
        - 2
        - count: 4
          training_plan:
            arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring
          from: 2026-03-02T11:30:00Z
          until: 2026-04-01T11:30:00Z
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.p5.48xlarge: 6}, strategy: RESERVE}
    ```

    ## Use instead

    Limits that hold all the time; or change them with the plan, and say so.

    ```yaml
    capacity:
      ml.p5.48xlarge:
        - 2
        - count: 4
          training_plan:
            arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring
          from: 2026-03-02T11:30:00Z
          until: 2026-04-01T11:30:00Z
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.p5.48xlarge: 6}, strategy: RESERVE}
    suppressions:
      - {rule: QM315, reason: an operator changes the limits with the plan}
    ```

    ## References

    - Documented: [Training plans utilization for SageMaker training
      jobs](https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-training-jobs.html): a job
      pending for two days ends with an `InsufficientCapacityError`; instances are reclaimed from 30 minutes before the
      reserved capacity ends.
    - Inferred: Batch dispatches by its own limits alone, since its API has no field for a plan.
    """

    id = "QM315"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each instance type whose limits need a plan."""
        entries: dict[str, list[CapacityEntry]] = {}
        for entry in topology.capacity_entries():
            entries.setdefault(entry.unit, []).append(entry)
        for unit, of_unit in entries.items():
            if all(entry.plan is None for entry in of_unit):
                continue
            always = sum(entry.count for entry in of_unit if entry.plan is None)
            limits = sum(owned.share.capacity.get(unit, 0) for owned in topology.quota_shares())
            if limits > always:
                yield Problem(
                    ("capacity", unit),
                    f"the shares' limits add up to {limits} {unit}, of which {always} are there without plans; "
                    f"instances of plans are taken back from {_ends(of_unit)}",
                    "let jobs checkpoint and end by then, and lower the limits or disable shares while no plan runs",
                )


def _ends(entries: list[CapacityEntry]) -> str:
    return ", ".join(format_instant(entry.plan.reclaimed_at) for entry in entries if entry.plan is not None)
