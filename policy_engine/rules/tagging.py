"""Where a topology gives tags, and how AWS Batch says that tags may look."""

import re
from collections.abc import Iterator

from policy_engine.diagnostics import described
from policy_engine.rules.kinds import Spot, share_named, share_path, team_path
from policy_engine.topology.model import Tags, Topology
from policy_engine.topology.source import Path
from policy_engine.topology.tags import TEAM_TAG

_RESERVED_PREFIX = "aws:"
_USUAL_CHARACTERS = re.compile(r"(?:[^\W_]|[ +\-=._:/@])*")


def tagged(topology: Topology) -> Iterator[tuple[str, Path, Tags]]:
    """Each mapping of tags: whose it is, in words, its path, and the tags."""
    yield "the queue", ("queue", "tags"), topology.queue.tags
    for name, team in topology.teams.items():
        yield f"team {described(name)}", (*team_path(name), "tags"), team.tags
    for owned in topology.quota_shares():
        yield share_named(owned), (*share_path(owned), "tags"), owned.share.tags


def tag_values(topology: Topology) -> Iterator[tuple[str, str, Path, Spot]]:
    """Each tag value: what it is, in words, the value itself, where it stands, and on which side of the colon.

    The name of a team with shares is the value of a tag of each of them.
    """
    for owner, path, tags in tagged(topology):
        for key, value in tags.items():
            yield f"the value of tag {described(key)} of {owner}", value, (*path, key), Spot.VALUE
    for name, team in topology.teams.items():
        if team.shares:
            yield f"the name of team {described(name)}, the value of tag {TEAM_TAG},", name, team_path(name), Spot.KEY


def is_reserved(text: str) -> bool:
    """Whether a tag's key or value starts in a way that only AWS may use."""
    return text.lower().startswith(_RESERVED_PREFIX)


def unusual_characters(text: str) -> str:
    """The characters that not all AWS services take in tags, each once."""
    return "".join(dict.fromkeys(character for character in text if _USUAL_CHARACTERS.fullmatch(character) is None))
