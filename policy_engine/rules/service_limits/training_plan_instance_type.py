"""QM122: instance types that training plans cover."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.instance_types import training_plan_instance_types
from policy_engine.topology.model import Topology


class TrainingPlanInstanceType(TopologyRule):
    """Training plan for an instance type without plans.

    ## What it checks

    That instance types with a `training_plan` are among those that SageMaker's API lists for reserved capacity, in the
    botocore that is installed.

    ## Why it matters

    Only some accelerated types can be reserved. For another type there is no such plan, so its jobs would wait until
    SageMaker fails them. The list grows: with a botocore older than a new type this warning is wrong, and can be
    suppressed.

    ## Example

    ```yaml
    capacity:
      ml.g5.48xlarge:
        count: 4
        training_plan:
          arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring
        from: 2026-03-02T11:30:00Z
        until: 2026-04-01T11:30:00Z
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.48xlarge: 4}, strategy: RESERVE}
    suppressions:
      - {rule: QM315, reason: the limits follow the plan}
    ```

    ## Use instead

    A type that plans cover, or capacity on demand.

    ```yaml
    capacity: {ml.g5.48xlarge: 4}
    ```

    ## References

    - Documented: [ReservedCapacitySummary](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ReservedCapacitySummary.html):
      the values of `InstanceType`.
    """

    id = "QM122"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each plan of a type that is not listed."""
        for entry in topology.capacity_entries():
            if entry.plan is not None and entry.unit not in training_plan_instance_types():
                yield Problem(
                    entry.path,
                    f"training plans are not known to cover {entry.unit}",
                    "leave the plan out, or take one of " + ", ".join(sorted(training_plan_instance_types())),
                )
