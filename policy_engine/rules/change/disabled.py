"""QM411: resources that are disabled."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import ChangeProblem, ChangeRule

if TYPE_CHECKING:
    from policy_engine.change import QueueChange


class Disabled(ChangeRule):
    """Quota share, queue or environment that is disabled.

    ## What it checks

    That nothing that exists becomes DISABLED.

    ## Why it matters

    A disabled share or queue refuses new jobs; those already submitted go on. Jobs of a queue whose service
    environment is disabled are not started until it is enabled again.

    ## Example

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
              state: DISABLED
    ```

    ## Use instead

    ```yaml
    before:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
              state: DISABLED
    after:
      capacity: {ml.g5.xlarge: 8}
      teams:
        search:
          shares:
            search-prod:
              capacity: {ml.g5.xlarge: 4}
              strategy: LEND
    ```

    ## References

    - Documented:
      [UpdateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_UpdateQuotaShare.html): a
      DISABLED share refuses new jobs; submitted ones can finish.
    - Documented:
      [Update a service environment](https://docs.aws.amazon.com/batch/latest/userguide/updating-service-environments.html):
      queues of a DISABLED environment stop processing new jobs until it is enabled again.
    """

    id = "QM411"
    severity = Severity.WARNING

    def problems(self, change: "QueueChange") -> Iterator[ChangeProblem]:
        """Each resource that stays and becomes DISABLED."""
        for resource in change.resources:
            state = resource.setting("state") if resource.action == "update" else None
            if state is not None and state.new == "DISABLED":
                noun = resource.kind.noun
                refused = "no new jobs are placed" if noun == "service environment" else "new jobs are refused"
                yield self.at_new(
                    change,
                    resource,
                    f"the {noun} {described(resource.name)} is disabled: {refused}",
                    "tell its submitters, and enable it again when they should go on",
                )
