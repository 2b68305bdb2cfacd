"""Quota shares that go away while another one comes that is just like them, or takes their place."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policy_engine.change import QueueChange, Resource, ResourceChange

_TAG = "tag "


def renames(change: "QueueChange") -> "list[tuple[ResourceChange, ResourceChange]]":
    """What was most likely meant as a rename: the change that ends the old share, and the one that makes the new.

    Both are one change where CloudFormation replaces a share.
    """
    found = [(share, share) for share in change.shares("replace")]
    added = change.shares("add")
    for removed in change.shares("remove"):
        alike = next((each for each in added if _terms(each.either) == _terms(removed.either)), None)
        if alike is not None and alike.name != removed.name:
            added.remove(alike)
            found.append((removed, alike))
    return found


def _terms(share: "Resource") -> dict[str, object]:
    """Everything but tags."""
    return {name: value for name, value in share.settings.items() if not name.startswith(_TAG)}
