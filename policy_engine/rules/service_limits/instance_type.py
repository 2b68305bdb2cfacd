"""QM108: the names of instance types."""

from collections.abc import Iterator
from itertools import chain

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.hints import Hints
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, capacities, largest_jobs
from policy_engine.rules.units import NUM_INSTANCES, is_instance_type
from policy_engine.topology.instance_types import training_instance_types
from policy_engine.topology.model import Topology


class InstanceType(TopologyRule):
    """Capacity unit that is no instance type of SageMaker Training.

    ## What it checks

    That each unit, in the capacity of the environment and of the quota shares and in `largest_job`, is an instance type
    that SageMaker trains on. The list comes from botocore, the AWS SDK that is installed beside Batch Quota.

    ## Why it matters

    Batch counts a job against the limit of its instance type. A limit with another name counts nothing, and jobs of the
    type that was meant wait without end.

    ## Example

    ```yaml
    capacity: {g5.xlarge: 16}
    teams:
      search:
        shares:
          search-prod: {capacity: {g5.xlarge: 16}, strategy: RESERVE}
    ```

    ## Use instead

    Names of SageMaker, which start with `ml.`. If AWS has a new type that is not known here, update botocore.

    ```yaml
    capacity: {ml.g5.xlarge: 16}
    teams:
      search:
        shares:
          search-prod: {capacity: {ml.g5.xlarge: 16}, strategy: RESERVE}
    ```

    ## References

    - Documented: [ResourceConfig](https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceConfig.html):
      the values of `InstanceType` for training.
    - Documented: [CapacityLimit](https://docs.aws.amazon.com/batch/latest/APIReference/API_CapacityLimit.html): a job
      of a type without a limit waits until there is one.
    - Inferred: Batch refuses a unit that is no instance type, or takes it and matches no job.
    """

    id = "QM108"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each unit that SageMaker does not train on, wherever it is named."""
        hints = Hints(training_instance_types(), "if the type is new, update botocore, which has the list")
        for owner, path, capacity in chain(capacities(topology), largest_jobs(topology)):
            for unit in capacity:
                if not is_instance_type(unit) and unit != NUM_INSTANCES:
                    yield Problem(
                        (*path, unit),
                        f"{owner} names {described(unit)}, which is no instance type of SageMaker Training",
                        hints.about(unit),
                        Spot.KEY,
                    )
