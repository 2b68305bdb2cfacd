"""What a deployment would change, for people: within 80 columns, in the order in which CloudFormation does it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from click import style

from policy_engine.amounts import printable
from policy_engine.change import Action, QueueChange, ResourceChange, SettingChange, effect
from policy_engine.report.diagnostics import finding_text
from policy_engine.rules.change_checking import ChangeFinding

_WIDTH = 80
_VERBS = {Action.ADD: "add", Action.UPDATE: "change", Action.REPLACE: "replace", Action.REMOVE: "remove"}
_COLORS = {Action.ADD: "green", Action.UPDATE: "yellow", Action.REPLACE: "red", Action.REMOVE: "red"}
_VERB_WIDTH = 9
_INDENT = " " * (_VERB_WIDTH + 2)
_NOTHING_THERE = "none"


def changes_text(changes: Sequence[QueueChange], *, color: bool) -> str:
    """Each queue with what becomes of its resources, their settings, and what that does to jobs."""
    return "\n\n".join("\n".join(_queue(change, color=color)) for change in changes)


def change_findings_text(findings: Iterable[tuple[ChangeFinding, bool]], *, color: bool) -> str:
    """Findings as text, each with whether it is accepted."""
    shown = []
    for found, accepted in findings:
        text = finding_text(found.finding, color=color)
        shown.append(f"{text}\n   = accepted for {printable(found.resource)}" if accepted else text)
    return "\n".join(shown)


def _queue(change: QueueChange, *, color: bool) -> Iterator[str]:
    counts = Counter(each.action for each in change.resources)
    tally = ", ".join(f"{counts[action]} to {verb}" for action, verb in _VERBS.items() if counts[action])
    title = f"queue {printable(change.name)}"
    yield f"{style(title, bold=True) if color else title}: {tally}, in this order"
    for each in change.resources:
        yield from _resource(each, change, color=color)


def _resource(change: ResourceChange, of: QueueChange, *, color: bool) -> Iterator[str]:
    verb = f"{_VERBS[change.action]:{_VERB_WIDTH}}"
    name = printable(change.name)
    if change.old_name != change.name:
        name = f"{printable(change.old_name)} by {name}"
    first, *others = wrap(f"{change.kind.noun} {name}", _WIDTH - len(_INDENT) - 2, break_on_hyphens=False)
    yield f"  {style(verb, fg=_COLORS[change.action]) if color else verb}{first}"
    yield from (f"{_INDENT}  {other}" for other in others)
    for setting in change.settings:
        yield from _hanging(_setting(setting))
    yield from _hanging(f"jobs: {effect(change, of)}")


def _setting(change: SettingChange) -> str:
    old, new = (_NOTHING_THERE if value is None else printable(str(value)) for value in (change.old, change.new))
    return f"{printable(change.setting)}: {old} -> {new}"


def _hanging(text: str) -> Iterator[str]:
    """A paragraph below the resource, whose lines after the first stand further in."""
    yield from wrap(
        text, _WIDTH, initial_indent=f"{_INDENT}  ", subsequent_indent=f"{_INDENT}    ", break_on_hyphens=False
    )
