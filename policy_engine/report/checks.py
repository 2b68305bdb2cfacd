"""What was checked, and what did not pass: what every form for pipelines is made of."""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from policy_engine.diagnostics import Finding, Severity
from policy_engine.rules.documentation import documentation
from policy_engine.rules.kinds import ChangeRule
from policy_engine.rules.registry import registry

USABLE = "can be used"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that passes or does not: that a file can be used, a rule, an expectation."""

    name: str
    findings: tuple[Finding, ...] = ()
    """What there is to say about it."""
    failed: bool = False
    unusable: bool = False
    """Whether the input is to blame, so that it is not known whether it would pass. Then it is not `failed`."""
    not_judged: str = ""
    """Why it was not judged. Empty if it was."""


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file with its checks."""

    file: str
    checks: tuple[Check, ...]
    label: str = ""
    """What to call it, if there are several of the file."""

    @property
    def findings(self) -> Iterator[Finding]:
        """What is said about all checks."""
        for check in self.checks:
            yield from check.findings


def rule_checks(findings: Iterable[Finding], failing: Collection[Severity]) -> Iterator[Check]:
    """A check for each rule about a topology. It fails by findings of these severities."""
    by_id: dict[str, list[Finding]] = {}
    for finding in findings:
        by_id.setdefault(finding.id, []).append(finding)
    yield Check(USABLE)
    for rule in registry().values():
        if not isinstance(rule, ChangeRule):
            found = tuple(by_id.pop(rule.id, ()))
            failed = any(finding.severity in failing for finding in found)
            yield Check(f"{rule.id} {documentation(rule).title}", found, failed=failed)
    for finding_id, found_of_it in by_id.items():
        failed = any(finding.severity in failing for finding in found_of_it)
        yield Check(finding_id, tuple(found_of_it), failed=failed)


def unreadable(findings: Sequence[Finding], otherwise: str) -> tuple[CheckedFile, ...]:
    """The files that findings are about, none of which can be used. `otherwise` names that of findings without one."""
    files: dict[str, list[Finding]] = {}
    for finding in findings:
        files.setdefault(finding.position.file if finding.position else otherwise, []).append(finding)
    return tuple(
        CheckedFile(file, (Check(USABLE, tuple(found), unusable=any(_is_error(each) for each in found)),))
        for file, found in files.items()
    )


def path_in_repository(file: str) -> str:
    """A file's path as code hosts name it: from the root of the git repository, with slashes.

    Paths outside a repository, and what is no file, stay as they are.
    """
    path = Path(file)
    try:
        here = Path.cwd()
        root = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)
        return Path(os.path.normpath(here / path)).relative_to(root).as_posix()
    except (OSError, ValueError):
        return path.as_posix()


def _is_error(finding: Finding) -> bool:
    return finding.severity is Severity.ERROR
