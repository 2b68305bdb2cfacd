"""What a deployment would do to the resources of queues, and in which order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from policy_engine.change.setup import QueueSetup, Resource, Setting
from policy_engine.template import ResourceKind

QUOTA_MANAGEMENT = "quota management"
"""A setting that a queue has as long as its policy is a quota share policy."""


class Action(StrEnum):
    """What CloudFormation does to a resource."""

    ADD = "add"
    UPDATE = "update"
    REPLACE = "replace"
    REMOVE = "remove"


@dataclass(frozen=True, slots=True)
class SettingChange:
    """A setting with another value. None: it is not there."""

    setting: str
    old: Setting
    new: Setting

    @property
    def lowered(self) -> bool:
        """Whether a number or a percentage became smaller, or is gone. Unlimited is more than any."""
        return _amount(self.new) < _amount(self.old)


@dataclass(frozen=True, slots=True)
class ResourceChange:
    """What becomes of one resource."""

    action: Action
    old: Resource | None
    new: Resource | None
    settings: tuple[SettingChange, ...] = ()

    @property
    def kind(self) -> ResourceKind:
        """The resource's type."""
        return self.either.kind

    @property
    def name(self) -> str:
        """The resource's name; the new one if there are two."""
        return self.either.name

    @property
    def old_name(self) -> str:
        """The old resource's name, or the new one's if there is no old one."""
        return (self.old or self.either).name

    @property
    def either(self) -> Resource:
        """The new resource, or the old one if there is no new one."""
        resource = self.new or self.old
        assert resource is not None, "a change of nothing"  # noqa: S101 (made with one at least)
        return resource

    @property
    def adds(self) -> bool:
        """Whether a resource is made."""
        return self.action in {Action.ADD, Action.REPLACE}

    @property
    def ends(self) -> bool:
        """Whether the old resource leaves the stack."""
        return self.action in {Action.REMOVE, Action.REPLACE}

    @property
    def retained(self) -> bool:
        """Whether an old resource that leaves the stack stays in the account."""
        if self.old is None or not self.ends:
            return False
        removed = self.action is Action.REMOVE
        return self.old.retained_when_removed if removed else self.old.retained_when_replaced

    def setting(self, name: str) -> SettingChange | None:
        """The change of a setting, if it has another value."""
        return next((change for change in self.settings if change.setting == name), None)

    def capacity(self) -> Iterator[tuple[str, SettingChange]]:
        """The changes of capacity by instance type."""
        for change in self.settings:
            word, _, unit = change.setting.partition(" ")
            if word == "capacity":
                yield unit, change


@dataclass(frozen=True, slots=True)
class QueueChange:
    """What becomes of a queue and of everything that belongs to it."""

    old: QueueSetup | None
    new: QueueSetup | None
    resources: tuple[ResourceChange, ...]
    """In the order in which CloudFormation deals with them: what is removed comes last."""

    @property
    def name(self) -> str:
        """The queue's name; the new one if there are two."""
        return self.either.queue.name

    @property
    def either(self) -> QueueSetup:
        """The new side, or the old one if there is no new one."""
        setup = self.new or self.old
        assert setup is not None, "a change of nothing"  # noqa: S101 (made with one at least)
        return setup

    @property
    def queue(self) -> ResourceChange | None:
        """What becomes of the queue itself. None: nothing."""
        return self._only(ResourceKind.JOB_QUEUE)

    @property
    def environment(self) -> ResourceChange | None:
        """What becomes of the service environment. None: nothing."""
        return self._only(ResourceKind.SERVICE_ENVIRONMENT)

    @property
    def policy(self) -> ResourceChange | None:
        """What becomes of the scheduling policy. None: nothing."""
        return self._only(ResourceKind.SCHEDULING_POLICY)

    def shares(self, *actions: str) -> list[ResourceChange]:
        """What becomes of the quota shares, of those alone to which one of these things is done."""
        return [
            change
            for change in self.resources
            if change.kind is ResourceKind.QUOTA_SHARE and (not actions or change.action in actions)
        ]

    @property
    def queue_ends(self) -> bool:
        """Whether the queue is replaced or removed, and all its shares with it."""
        return self.queue is not None and self.queue.ends

    def _only(self, kind: ResourceKind) -> ResourceChange | None:
        """The change of the resource of a kind that there is one of. Of two, the end of the old one."""
        found = [change for change in self.resources if change.kind is kind]
        return next((change for change in found if change.ends), found[0] if found else None)


def compare(
    old: Sequence[QueueSetup], new: Sequence[QueueSetup], unmanaged: Sequence[Resource] = ()
) -> tuple[QueueChange, ...]:
    """What a deployment of the new queues makes of the old ones. Queues without any change are left out.

    `unmanaged` are queues beside the new ones that have no quota management: an old queue may become one of them.

    Between two templates a resource is the same if its logical id is. Where a topology is compared, its construct is
    taken to stay where it is in the app: then each resource keeps its logical id, a share as long as it keeps its name.
    """
    changes = [_queue_change(before, after, unmanaged) for before, after in _pairs(old, new)]
    return tuple(change for change in changes if change.resources)


def _pairs(
    old: Sequence[QueueSetup], new: Sequence[QueueSetup]
) -> Iterator[tuple[QueueSetup | None, QueueSetup | None]]:
    """Each queue with what becomes of it: by logical id, by name, and a single one left on each side is renamed."""
    left, right = list(old), list(new)
    for same in (_same_logical_id, _same_name):
        for before in list(left):
            after = next((each for each in right if same(before.queue, each.queue)), None)
            if after is not None:
                left.remove(before)
                right.remove(after)
                yield before, after
    if len(left) == len(right) == 1 and (left[0].queue.logical_id is None or right[0].queue.logical_id is None):
        yield left.pop(), right.pop()
    yield from ((before, None) for before in left)
    yield from ((None, after) for after in right)


def _queue_change(old: QueueSetup | None, new: QueueSetup | None, unmanaged: Sequence[Resource]) -> QueueChange:
    left = None if old is None or new is not None else _left_unmanaged(old, unmanaged)
    if old is not None and left is not None:
        lost = SettingChange(QUOTA_MANAGEMENT, "on", None)
        changes = [ResourceChange(Action.UPDATE, old.queue, left, (lost,))]
    else:
        changes = [
            change
            for role in ("policy", "environment", "queue")
            for change in _resource_changes(getattr(old, role, None), getattr(new, role, None))
        ]
    queue_ends = any(change.kind is ResourceKind.JOB_QUEUE and change.ends for change in changes)
    changes += _share_changes(old, new, queue_ends=queue_ends)
    making = [change for change in changes if change.action is not Action.REMOVE]
    ending = [change for change in reversed(changes) if change.action is Action.REMOVE]
    return QueueChange(old, new, tuple(making + ending))


def _left_unmanaged(old: QueueSetup, unmanaged: Sequence[Resource]) -> Resource | None:
    """What is left of a queue that has no quota management any more."""
    same = (each for each in unmanaged if _same_logical_id(old.queue, each) or _same_name(old.queue, each))
    return next(same, None)


def _share_changes(old: QueueSetup | None, new: QueueSetup | None, *, queue_ends: bool) -> Iterator[ResourceChange]:
    """The same shares have the same logical ids, or, where only one side has any, the same names."""
    before = dict(old.shares) if old is not None else {}
    after = dict(new.shares) if new is not None else {}
    if old is not None and new is not None and (old.template is None) != (new.template is None):
        before, after = ({share.name: share for share in shares.values()} for shares in (before, after))
    for key in sorted({*before, *after}):
        share, changed = before.get(key), after.get(key)
        if share is not None and changed is not None and queue_ends:
            yield ResourceChange(Action.REPLACE, share, changed, _setting_changes(share, changed))
        else:
            yield from _resource_changes(share, changed)


def _resource_changes(old: Resource | None, new: Resource | None) -> Iterator[ResourceChange]:
    if old is None or new is None:
        if old is not new:
            yield ResourceChange(Action.REMOVE if new is None else Action.ADD, old, new)
        return
    settings = _setting_changes(old, new)
    both = old.logical_id is not None and new.logical_id is not None
    if both and old.logical_id != new.logical_id:
        yield ResourceChange(Action.ADD, None, new)
        yield ResourceChange(Action.REMOVE, old, None)
    elif old.identity != new.identity:
        yield ResourceChange(Action.REPLACE, old, new, settings)
    elif settings:
        yield ResourceChange(Action.UPDATE, old, new, settings)


def _setting_changes(old: Resource, new: Resource) -> tuple[SettingChange, ...]:
    names = dict.fromkeys([*old.settings, *new.settings])
    pairs = ((name, old.settings.get(name), new.settings.get(name)) for name in names)
    return tuple(SettingChange(name, before, after) for name, before, after in pairs if before != after)


def _amount(setting: Setting) -> float:
    if setting is None:
        return -inf
    if isinstance(setting, int):
        return setting
    percent = setting.removesuffix(" %")
    return int(percent) if percent.isdecimal() else inf


def _same_logical_id(old: Resource, new: Resource) -> bool:
    return old.logical_id is not None and old.logical_id == new.logical_id


def _same_name(old: Resource, new: Resource) -> bool:
    return old.name == new.name
