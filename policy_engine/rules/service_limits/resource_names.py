"""QM104: the names that are made from the topology's name."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.rules.names import has_refused_characters, renaming_help
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_NAME_LENGTH


class ResourceNames(TopologyRule):
    """Topology name that makes names AWS refuses.

    ## What it checks

    The names made from the topology's `name`: NAME-scheduling-policy, NAME-service-environment and NAME-queue. Each has
    at most 128 letters, digits, hyphens and underscores, so the topology's name has at most 108.

    ## Why it matters

    AWS refuses other names, and the deployment would fail.

    ## Example

    ```yaml
    name: ML training (EU)
    ```

    ## Use instead

    ```yaml
    name: ml-training-eu
    ```

    ## References

    - Documented: [CreateJobQueue](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateJobQueue.html),
      [CreateServiceEnvironment](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateServiceEnvironment.html),
      [CreateSchedulingPolicy](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateSchedulingPolicy.html):
      up to 128 letters, digits, hyphens and underscores.
    """

    id = "QM104"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The topology's name, once for its characters and once for its length."""
        name = topology.name
        longest = max(topology.scheduling_policy_name, topology.service_environment_name, topology.queue_name, key=len)
        if not name:
            yield Problem(("name",), "the topology's name is empty", "name it, as in ml-training")
        elif has_refused_characters(name):
            yield Problem(
                ("name",),
                f"{described(name)} has characters that AWS refuses in names of resources",
                renaming_help(name),
            )
        if len(longest) > MAX_NAME_LENGTH:
            yield Problem(
                ("name",),
                f"{described(longest)} is {len(longest)} characters long; AWS allows {MAX_NAME_LENGTH}",
                f"shorten the topology's name to {MAX_NAME_LENGTH - len(longest) + len(name)} characters",
            )
