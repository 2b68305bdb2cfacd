"""QM114: the number of tags."""

from collections.abc import Iterator

from policy_engine.diagnostics import Severity, described
from policy_engine.rules.kinds import Problem, Spot, TopologyRule, share_named, share_path, team_path
from policy_engine.topology.model import Topology
from policy_engine.topology.service_limits import MAX_TAGS
from policy_engine.topology.source import Path
from policy_engine.topology.tags import TEAM_TAG, quota_share_tags


class TagCount(TopologyRule):
    """More than 50 tags on a resource.

    ## What it checks

    The number of tags of the queue, and of each quota share. A share has its team's tags, its own, and
    `batch-quota:team` with the team's name; a key in both counts once.

    ## Why it matters

    A resource has at most 50 tags. The deployment would fail.

    ## Example

    ```yaml
    teams:
      search:
        tags: {t01: a, t02: a, t03: a, t04: a, t05: a, t06: a, t07: a, t08: a, t09: a,
               t10: a, t11: a, t12: a, t13: a, t14: a, t15: a, t16: a, t17: a, t18: a,
               t19: a, t20: a, t21: a, t22: a, t23: a, t24: a, t25: a, t26: a, t27: a}
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            tags: {s01: b, s02: b, s03: b, s04: b, s05: b, s06: b, s07: b, s08: b, s09: b,
                   s10: b, s11: b, s12: b, s13: b, s14: b, s15: b, s16: b, s17: b, s18: b,
                   s19: b, s20: b, s21: b, s22: b, s23: b, s24: b, s25: b, s26: b, s27: b}
    ```

    ## Use instead

    ```yaml
    teams:
      search:
        tags: {cost-center: "4711", owner: search}
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            tags: {stage: production}
    ```

    ## References

    - Documented: [Tag restrictions](https://docs.aws.amazon.com/batch/latest/userguide/tag-restrictions.html): 50 tags
      a resource.
    """

    id = "QM114"
    severity = Severity.ERROR

    def problems(self, topology: Topology) -> Iterator[Problem]:
        """The queue, each team, and each share of the other teams, if their tags are too many."""
        count = len(topology.queue.tags)
        if count > MAX_TAGS:
            yield _problem("the queue", count, "", ("queue", "tags"))
        too_many = set()
        for name, team in topology.teams.items():
            count = len({TEAM_TAG, *team.tags})
            if team.shares and count > MAX_TAGS:
                too_many.add(name)
                yield _problem(
                    f"each share of team {described(name)}", count, f", {TEAM_TAG} included", (*team_path(name), "tags")
                )
        for owned in topology.quota_shares():
            count = len(quota_share_tags(topology, owned))
            if owned.team not in too_many and count > MAX_TAGS:
                counted = f", those of its team and {TEAM_TAG} included"
                yield _problem(share_named(owned), count, counted, (*share_path(owned), "tags"))


def _problem(owner: str, count: int, counted: str, path: Path) -> Problem:
    message = f"{owner} has {count} tags{counted}; AWS allows {MAX_TAGS} on a resource"
    return Problem(path, message, f"remove {count - MAX_TAGS}", Spot.KEY)
