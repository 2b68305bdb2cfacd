"""The tags of a quota share's resource: the team that owns it, the team's tags, the share's own."""

from policy_engine.topology.model import OwnedShare, Tags, Topology

TEAM_TAG = "batch-quota:team"
"""Names the team on each of its quota shares. AWS knows shares and no teams."""


def quota_share_tags(topology: Topology, owned: OwnedShare) -> Tags:
    """All tags of a quota share. The share's own win over the team's of the same key."""
    return {TEAM_TAG: owned.team, **topology.teams[owned.team].tags, **owned.share.tags}
