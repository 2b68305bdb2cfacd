"""QM117: the characters of tags."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule
from policy_engine.rules.tagging import tag_values, tagged, unusual_characters
from policy_engine.topology.model import Topology
from policy_engine.topology.source import Path


class TagCharacters(TopologyRule):
    """Tag with characters that AWS may refuse.

    ## What it checks

    That the keys and values of tags have only letters, digits, spaces and `+ - = . _ : / @`. The name of a team is such
    a value: each of its quota shares has it as tag `batch-quota:team`.

    ## Why it matters

    These are the characters that AWS generally allows. Others may fail the deployment, or later a service that reads
    the tags, such as cost allocation.

    ## Example

    ```yaml
    queue:
      tags: {owner: "search & recommendations"}
    ```

    ## Use instead

    ```yaml
    queue:
      tags: {owner: search and recommendations}
    ```

    ## References

    - Documented: [Tag restrictions](https://docs.aws.amazon.com/batch/latest/userguide/tag-restrictions.html): the
      characters that are generally allowed.
    - Inferred: AWS Batch may refuse others. It is not documented, so this is a warning.
    """

    id = "QM117"
    severity = Severity.WARNING

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each key and each value with such characters."""
        for owner, path, tags in tagged(topology):
            for key in tags:
                yield from _problems(f"the tag key {described(key)} of {owner}", key, (*path, key), Spot.KEY)
        for what, value, path, spot in tag_values(topology):
            yield from _problems(what, value, path, spot)


def _problems(what: str, text: str, path: Path, spot: Spot) -> Iterator[Problem]:
    unusual = unusual_characters(text)
    if unusual:
        message = f"{what} has characters that AWS may refuse in tags: {described(unusual)}"
        yield Problem(path, message, "use letters, digits, spaces and + - = . _ : / @", spot)
