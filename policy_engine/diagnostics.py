"""What the policy engine has to say about an input: findings with a position, and the error that carries them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite, isnan

_LONGEST_QUOTE = 60


class Severity(StrEnum):
    """How bad a finding is. Errors make an input unusable or a gate fail; warnings and infos do not."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a text file. `line` and `column` count from 1; `text` is that whole line, for a caret below it.

    `length` is the number of characters, from `column` on, that the finding is about.
    """

    file: str
    line: int
    column: int
    text: str = ""
    length: int = 1


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or risky, and how to mend it."""

    id: str
    severity: Severity
    message: str
    help: str = ""
    path: tuple[str | int, ...] = ()
    position: Position | None = None


class InputError(Exception):
    """An input cannot be used. Carries every finding, not only the first."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(one_line(finding) for finding in self.findings))


def one_line(finding: Finding) -> str:
    """`file:line:column: severity id: message (help)`, leaving out what is not known."""
    place = f"{finding.position.file}:{finding.position.line}:{finding.position.column}: " if finding.position else ""
    mend = f" ({finding.help})" if finding.help else ""
    return f"{place}{finding.severity} {finding.id}: {finding.message}{mend}"


def shortened(text: str) -> str:
    """A text from a document as it fits into a message: the start of a very long one."""
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE] + "…"


def described(value: object) -> str:
    """A value that was read from a document, as a message names it: `'LENT'`, `true`, `a list`. Long texts are cut."""
    if isinstance(value, str):
        return repr(shortened(value))
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, float) and not isfinite(value):
        return ".nan" if isnan(value) else ".inf" if value > 0 else "-.inf"
    return repr(value)
