"""QM121: the ARNs of training plans."""

import re
from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.topology.model import Topology

_ARN = re.compile(r"arn:aws[a-z-]*:sagemaker:[a-z0-9-]+:[0-9]{12}:training-plan/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,63}")


class TrainingPlanArn(TopologyRule):
    """Training plan that is not named by its ARN.

    ## What it checks

    That each `training_plan` of the environment's capacity is the ARN of a SageMaker training plan.

    ## Why it matters

    The ARN is what submitters put into `ResourceConfig.TrainingPlanArn`: SageMaker refuses a job with another. Batch
    never sees it before a job is sent to SageMaker, so the mistake shows only when training should begin.

    ## Example

    ```yaml
    capacity:
      ml.p5.48xlarge:
        count: 4
        training_plan:
          spring
        from: 2026-03-02T11:30:00Z
        until: 2026-04-01T11:30:00Z
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

    - Documented: [ResourceConfig](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html):
      the form of `TrainingPlanArn`.
    """

    id = "QM121"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each training plan that is something else."""
        for entry in topology.capacity_entries():
            if entry.plan is not None and not _ARN.fullmatch(entry.plan.training_plan):
                yield Problem(
                    (*entry.path, "training_plan"),
                    f"{described(entry.plan.training_plan)} is not the ARN of a training plan",
                    "write it as arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME, "
                    "as `aws sagemaker list-training-plans` shows it",
                )
