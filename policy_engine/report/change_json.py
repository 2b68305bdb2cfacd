"""What a deployment would change, for programs."""

import json
from collections.abc import Iterable, Sequence

from policy_engine.change import QueueChange, ResourceChange, effect
from policy_engine.report.diagnostics import finding_data
from policy_engine.rules.change_checking import ChangeFinding


def changes_json(changes: Sequence[QueueChange], findings: Iterable[tuple[ChangeFinding, bool]]) -> str:
    """`{"version": 1, "queues": [...], "findings": [...], "dangerous": true}`.

    A queue has its resources in the order in which CloudFormation deals with them. A finding has whether it is
    accepted; the change is dangerous if an error or a warning is not.
    """
    listed = list(findings)
    document = {
        "version": 1,
        "queues": changes_data(changes),
        "findings": [
            {**finding_data(found.finding), "resource": found.resource, "accepted": accepted}
            for found, accepted in listed
        ],
        "dangerous": any(found.dangerous and not accepted for found, accepted in listed),
    }
    return json.dumps(document, indent=2)


def changes_data(changes: Iterable[QueueChange]) -> list[dict[str, object]]:
    """Each queue that changes, with its resources in the order in which CloudFormation deals with them."""
    return [
        {"name": change.name, "resources": [_resource(each, change) for each in change.resources]} for change in changes
    ]


def _resource(change: ResourceChange, of: QueueChange) -> dict[str, object]:
    return {
        "action": change.action.value,
        "type": change.kind.value,
        "name": change.name,
        "old_name": change.old_name if change.old is not None else None,
        "logical_id": change.either.logical_id,
        "settings": [{"setting": each.setting, "old": each.old, "new": each.new} for each in change.settings],
        "effect_on_jobs": effect(change, of),
        "retained": change.retained,
    }
