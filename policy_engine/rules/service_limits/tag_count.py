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
        tags: {t1: x, t2: x, t3: x, t4: x, t5: x, t6: x, t7: x,
               t8: x, t9: x, t10: x, t11: x, t12: x, t13: x, t14: x,
               t15: x, t16: x, t17: x, t18: x, t19: x, t20: x, t21: x,
               t22: x, t23: x, t24: x, t25: x, t26: x, t27: x}
        shares:
          search-prod:
            capacity: {ml.g5.xlarge: 4}
            strategy: RESERVE
            tags: {s1: x, s2: x, s3: x, s4: x, s5: x, s6: x, s7: x,
                   s8: x, s9: x, s10: x, s11: x, s12: x, s13: x, s14: x,
                   s15: x, s16: x, s17: x, s18: x, s19: x, s20: x, s21: x,
                   s22: x, s23: x, s24: x, s25: x, s26: x, s27: x}
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
