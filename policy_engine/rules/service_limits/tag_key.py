"""QM115: the keys of tags."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule
from policy_engine.rules.tagging import is_reserved, tagged
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_TAG_KEY_LENGTH


class TagKey(TopologyRule):
    """Tag key that AWS refuses.

    ## What it checks

    That each tag's key has 1 to 128 characters and does not start with `aws:`, in upper or lower case.

    ## Why it matters

    AWS refuses other keys, and keeps `aws:` for itself. The deployment would fail.

    ## Example

    ```yaml
    queue:
      tags: {"aws:owner": ml-platform}
    ```

    ## Use instead

    ```yaml
    queue:
      tags: {owner: ml-platform}
    ```

    ## References

    - Documented: [Tag restrictions](https://docs.aws.amazon.com/batch/latest/userguide/tag-restrictions.html): up to
      128 characters, and not `aws:`.
    - Documented: [TagResource](https://docs.aws.amazon.com/batch/latest/APIReference/API_TagResource.html): at least 1
      character.
    """

    id = "QM115"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each key that is refused."""
        for owner, path, tags in tagged(topology):
            for key in tags:
                if not 1 <= len(key) <= MAX_TAG_KEY_LENGTH:
                    message = f"{owner} has a tag key of {len(key)} characters; AWS expects 1 to {MAX_TAG_KEY_LENGTH}"
                    mend = "shorten it" if key else "name the tag"
                elif is_reserved(key):
                    message = f"{owner} has a tag {described(key)}; AWS keeps keys that start with aws: for itself"
                    mend = "start it with another word"
                else:
                    continue
                yield Problem((*path, key), message, mend, Spot.KEY)
