"""The documentation of a rule: the docstring of its class, taken apart at its headings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import getdoc

from policy_engine.rules.kinds import Rule

HEADINGS = ("What it checks", "Why it matters", "Example", "Use instead", "References")
"""What every rule's docstring says, in this order."""

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_CODE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Documentation:
    """What a rule says of itself. Texts are Markdown."""

    title: str
    """What it finds, without a full stop."""
    sections: Mapping[str, str]
    """By heading."""

    @property
    def text(self) -> str:
        """All sections with their headings."""
        return "\n\n".join(f"## {heading}\n\n{section}" for heading, section in self.sections.items())

    def code(self, heading: str) -> str:
        """The YAML in a section. Raises ValueError if there is none, or more than one piece."""
        found = _CODE.findall(self.sections[heading])
        if len(found) != 1:
            raise ValueError(f"{heading!r} has {len(found)} pieces of YAML, and not one")
        return str(found[0])


def documentation(rule: Rule) -> Documentation:
    """What a rule says of itself. Raises ValueError if its docstring has other headings than all the others."""
    head, *parts = _HEADING.split(getdoc(type(rule)) or "")
    headings, texts = parts[::2], parts[1::2]
    if tuple(headings) != HEADINGS:
        raise ValueError(f"the docstring of {type(rule).__name__} has the headings {headings}, and not {HEADINGS}")
    sections = {heading: text.strip() for heading, text in zip(headings, texts, strict=True)}
    return Documentation(head.strip().removesuffix("."), sections)
