"""Checks as JUnit XML, in the form that Jenkins' xUnit plugin describes and GitLab reads: a suite a file."""

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from policy_engine.amounts import printable
from policy_engine.diagnostics import Finding
from policy_engine.report.checks import Check, CheckedFile, path_in_repository


def junit_xml(command: str, files: Iterable[CheckedFile]) -> str:
    """The document of a run of `batch-quota COMMAND`."""
    root = ET.Element("testsuites", name=f"batch-quota {command}")
    suites = [_suite(root, file) for file in files]
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(root: ET.Element, checked: CheckedFile) -> ET.Element:
    counts = {
        "tests": len(checked.checks),
        "failures": sum(check.failed for check in checked.checks),
        "errors": sum(check.unusable for check in checked.checks),
        "skipped": sum(bool(check.not_judged) for check in checked.checks),
    }
    name = printable(checked.label or path_in_repository(checked.file))
    suite = ET.SubElement(root, "testsuite", {"name": name, **{kind: str(count) for kind, count in counts.items()}})
    for check in checked.checks:
        _case(suite, name, check)
    return suite


def _case(suite: ET.Element, suite_name: str, check: Check) -> None:
    case = ET.SubElement(suite, "testcase", name=printable(check.name), classname=suite_name)
    if check.not_judged:
        ET.SubElement(case, "skipped", message=printable(check.not_judged))
        return
    if not check.findings:
        return
    details = "\n".join(_details(finding) for finding in check.findings)
    if not check.failed and not check.unusable:
        ET.SubElement(case, "system-out").text = details
        return
    first = check.findings[0]
    kind = "error" if check.unusable else "failure"
    ET.SubElement(case, kind, message=printable(first.message), type=first.id).text = details


def _details(finding: Finding) -> str:
    place = finding.position
    where = f"{path_in_repository(place.file)}:{place.line}:{place.column}: " if place else ""
    lines = [f"{where}{finding.severity} {finding.id} {finding.message}", *([finding.help] if finding.help else [])]
    return "\n".join(printable(line) for line in lines)
