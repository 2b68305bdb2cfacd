"""QM412: lowered capacity of service environments."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class EnvironmentCapacityLowered(ChangeRule):
    """Capacity of the service environment that is lowered.

    ## What it checks

    That no capacity of a service environment that stays is lowered or taken away.

    ## Why it matters

    No running job is stopped: AWS documents that for service environments, unlike for quota shares. But until
    enough jobs have ended, more is in use than there is, and nothing new is dispatched. A job larger than the new
    capacity never runs.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 16}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod: {capacity: {ml.g5.xlarge: 4}, strategy: LEND}
    ```

    ## Use instead

    ```yaml
    before: {capacity: {ml.g5.xlarge: 8}}
    after: {capacity: {ml.g5.xlarge: 8}}
    ```

    ## References

    - Documented:
      [Update a service environment](https://docs.aws.amazon.com/batch/latest/userguide/updating-service-environments.html):
      lowering a limit of a service environment stops no job; new dispatches keep to it.
    """

    id = "QM412"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each capacity of an environment that stays, if it is lowered or gone."""
        environment = change.environment
        if environment is None or environment.action != "update":
            return
        for unit, capacity in environment.capacity():
            if capacity.lowered:
                now = "is taken away" if capacity.new is None else f"is lowered from {capacity.old} to {capacity.new}"
                yield self.at_new(
                    change,
                    environment,
                    f"{unit} of the service environment {now}: running jobs go on, and nothing new is dispatched "
                    "while more than that is in use",
                    "lower it when less is in use, or expect the wait",
                    ("capacity", *([] if capacity.new is None else [unit])),
                )
