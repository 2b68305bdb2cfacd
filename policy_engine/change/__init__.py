"""What a deployment would change: the resources of queues, compared before and after."""

from policy_engine.change.comparing import Action, QueueChange, ResourceChange, SettingChange, compare
from policy_engine.change.effects import effect
from policy_engine.change.setup import QueueSetup, Resource, setup_of_queue, setup_of_topology, unmanaged_queue

__all__ = [
    "Action",
    "QueueChange",
    "QueueSetup",
    "Resource",
    "ResourceChange",
    "SettingChange",
    "compare",
    "effect",
    "setup_of_queue",
    "setup_of_topology",
    "unmanaged_queue",
]
