"""QM116: the values of tags."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, TopologyRule
from policy_engine.rules.tagging import is_reserved, tag_values
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_TAG_VALUE_LENGTH


class TagValue(TopologyRule):
    """Tag value that AWS refuses.

    ## What it checks

    That each tag's value has at most 256 characters and does not start with `aws:`, in upper or lower case. The name of
    a team is such a value: each of its quota shares has it as tag `batch-quota:team`.

    ## Why it matters

    AWS refuses longer values, and keeps `aws:` for itself. The deployment would fail.

    ## Example

    ```yaml
    queue:
      tags: {owner: "aws:ml-platform"}
    ```

    ## Use instead

    ```yaml
    queue:
      tags: {owner: ml-platform}
    ```

    ## References

    - Documented: [Tag restrictions](https://docs.aws.amazon.com/batch/latest/userguide/tag-restrictions.html): up to
      256 characters, and not `aws:`.
    """

    id = "QM116"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each value that is refused."""
        for what, value, path, spot in tag_values(topology):
            if len(value) > MAX_TAG_VALUE_LENGTH:
                message = f"{what} has {len(value)} characters; AWS allows {MAX_TAG_VALUE_LENGTH}"
                yield Problem(path, message, f"shorten it by {len(value) - MAX_TAG_VALUE_LENGTH}", spot)
            elif is_reserved(value):
                message = f"{what} starts with aws:, which AWS keeps for itself"
                yield Problem(path, message, "start it with another word", spot)
