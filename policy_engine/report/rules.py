"""Rules as people and tools read them: a table, a page in the terminal, JSON."""

import json
import re
import textwrap
from collections.abc import Iterable, Iterator

from click import style

from policy_engine.diagnostics import Severity
from policy_engine.rules.documentation import documentation
from policy_engine.rules.kinds import AccessRule, ChangeRule, Rule
from policy_engine.rules.suppressing import can_be_suppressed

_COLORS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "blue"}
_SEVERITY_WIDTH = max(map(len, Severity))
_LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")
_ITEM = "- "
_FENCE = "```"


def rules_table(rules: Iterable[Rule], *, color: bool) -> str:
    """A line for each rule: id, severity and what it finds."""
    lines = [f"{'ID':5}  {'SEVERITY':{_SEVERITY_WIDTH + 1}}  WHAT IT FINDS"]
    for rule in rules:
        severity = f"{rule.severity:{_SEVERITY_WIDTH + 1}}"
        shown = style(severity, fg=_COLORS[rule.severity]) if color else severity
        lines.append(f"{rule.id}  {shown}  {documentation(rule).title}")
    return "\n".join(lines)


def rule_text(rule: Rule, *, width: int, color: bool) -> str:
    """The rule's documentation, wrapped to a width, without Markdown's marks."""
    says = documentation(rule)
    severity = style(rule.severity, fg=_COLORS[rule.severity], bold=True) if color else rule.severity
    if isinstance(rule, ChangeRule):
        accepted = f"can be accepted with --accept {rule.id}"
    elif isinstance(rule, AccessRule):
        accepted = "can be acknowledged in synth, with a reason"
    else:
        accepted = "can be suppressed with a reason" if can_be_suppressed(rule) else "cannot be suppressed"
    parts = [f"{_heading(rule.id, color=color)}  {says.title}", f"{severity}; {accepted}"]
    for heading, section in says.sections.items():
        parts.append("\n".join([_heading(heading, color=color), *_body(section, width)]))
    return "\n\n".join(parts)


def rules_json(rules: Iterable[Rule]) -> str:
    """`{"version": 1, "rules": [...]}`, a rule with id, severity, title and its sections as Markdown."""
    return json.dumps({"version": 1, "rules": [_as_data(rule) for rule in rules]}, indent=2)


def _as_data(rule: Rule) -> dict[str, str | bool]:
    says = documentation(rule)
    sections = {heading.lower().replace(" ", "_"): section for heading, section in says.sections.items()}
    return {
        "id": rule.id,
        "severity": rule.severity.value,
        "title": says.title,
        "can_be_suppressed": can_be_suppressed(rule),
    } | sections


def _heading(text: str, *, color: bool) -> str:
    return style(text, bold=True) if color else text


def _body(section: str, width: int) -> Iterator[str]:
    """The lines of a section below its heading: paragraphs and items wrapped, code as it is."""
    for number, block in enumerate(re.split(r"\n\n(?=\S)", section)):
        if number:
            yield ""
        if block.startswith(_FENCE):
            yield from (f"    {line}" for line in block.splitlines()[1:-1])
            continue
        for item in re.split(rf"\n(?={_ITEM})", block):
            text = _LINK.sub(r"\1 <\2>", " ".join(item.split()))
            hanging = "    " if text.startswith(_ITEM) else "  "
            yield from textwrap.wrap(
                text,
                width,
                initial_indent="  ",
                subsequent_indent=hanging,
                break_long_words=False,
                break_on_hyphens=False,
            )
