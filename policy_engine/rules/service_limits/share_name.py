"""QM105: the names of quota shares."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_named, share_path
from policy_engine.rules.names import has_refused_characters, renaming_help
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_NAME_LENGTH


class ShareName(TopologyRule):
    """Quota share name that AWS refuses.

    ## What it checks

    That the name of each quota share has 1 to 128 letters, digits, hyphens and underscores.

    ## Why it matters

    The name is part of the share's ARN, and what submitters ask for. AWS refuses others, and the deployment would fail.

    ## Example

    ```yaml
    teams:
      search:
        shares:
          "search: production": {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        shares:
          search-production: {capacity: {ml.g5.xlarge: 4}, strategy: RESERVE}
    ```

    ## References

    - Documented: [CreateQuotaShare](https://docs.aws.amazon.com/batch/latest/APIReference/API_CreateQuotaShare.html):
      `quotaShareName` has up to 128 letters, digits, hyphens and underscores.
    - Documented:
      [AWS::Batch::QuotaShare](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-batch-quotashare.html):
      the pattern of the ARN.
    """

    id = "QM105"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """Each share's name that is refused, with the first reason."""
        for owned in topology.quota_shares():
            name = owned.name
            if not name:
                yield Problem(share_path(owned), "the name of this share is empty", "name it", Spot.KEY)
            elif has_refused_characters(name):
                yield Problem(
                    share_path(owned),
                    f"the name of {share_named(owned)} has characters that AWS refuses",
                    renaming_help(name),
                    Spot.KEY,
                )
            elif len(name) > MAX_NAME_LENGTH:
                yield Problem(
                    share_path(owned),
                    f"the name of {share_named(owned)} is {len(name)} characters long; AWS allows {MAX_NAME_LENGTH}",
                    f"shorten it by {len(name) - MAX_NAME_LENGTH}",
                    Spot.KEY,
                )
