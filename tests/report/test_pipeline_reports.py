"""What pipelines read: SARIF, GitHub's annotations, JUnit XML and Markdown, each held against its own definition."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from lxml import etree
from rich.markdown import Markdown

from policy_engine.diagnostics import Finding, Position, Severity
from policy_engine.report.checks import Check, CheckedFile, path_in_repository, rule_checks, unreadable
from policy_engine.report.github_annotations import annotations
from policy_engine.report.pipelines import pipeline_text

SCHEMAS = Path(__file__).parents[1] / "schemas"
SARIF = Draft4Validator(json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text(encoding="utf-8")))
JUNIT = etree.XMLSchema(etree.parse(SCHEMAS / "junit-10.xsd"))
BOTH = frozenset({Severity.ERROR, Severity.WARNING})
HOSTILE = "<script>|`x` ::error::y%0A\r\n\x1b[31m\u202e\x00\ud800]]> & \"'@team #1 https://evil.example"
ERROR = Finding(
    "QM110",
    Severity.ERROR,
    "the queue has priority 1001",
    "leave it out",
    ("queue", "priority"),
    Position("deploy/my topology.yaml", 15, 13, "  priority: 1001", 4),
)
WARNING = Finding("QM301", Severity.WARNING, "nobody can use 2 of 8 ml.g5.xlarge")
INFO = Finding("QM014", Severity.INFO, "no queue")


def files(*findings: Finding, failing: frozenset[Severity] = BOTH) -> list[CheckedFile]:
    return [CheckedFile("deploy/my topology.yaml", tuple(rule_checks(findings, failing)))]


def sarif(checked: list[CheckedFile], command: str = "validate") -> dict[str, object]:
    document = json.loads(pipeline_text("sarif", command, checked, ""))
    assert [error.message for error in SARIF.iter_errors(document)] == []
    return document["runs"][0]


def junit(checked: list[CheckedFile]) -> etree._Element:
    root = etree.fromstring(pipeline_text("junit", "validate", checked, "").encode())
    JUNIT.assertValid(root)
    return root


def elements(markdown: str) -> Counter[str]:
    """How many elements of each kind there are in Markdown."""
    tokens = Markdown(markdown).parsed
    return Counter(each.type for token in tokens for each in (token, *(token.children or ())))


# SARIF


def test_sarif_has_rule_level_place_and_what_to_do():
    run = sarif(files(ERROR, WARNING))
    first, second = run["results"]
    assert (first["ruleId"], first["level"], second["level"]) == ("QM110", "error", "warning")
    assert first["message"]["text"] == "the queue has priority 1001. To mend it: leave it out"
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "deploy/my%20topology.yaml"
    assert place["region"] == {
        "startLine": 15,
        "startColumn": 13,
        "endColumn": 17,
        "snippet": {"text": "  priority: 1001"},
    }
    rules = run["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in run["results"]] == ["QM110", "QM301"]
    assert rules[0]["shortDescription"]["text"] == "Queue priority outside 0 to 1000"
    assert "## Why it matters" in rules[0]["help"]["markdown"]


def test_sarif_without_findings_is_valid_and_says_that_it_ran():
    run = sarif(files())
    assert run["results"] == []
    assert run["automationDetails"]["id"] == "batch-quota/validate/"


def test_sarif_points_at_the_file_where_there_is_no_place_and_knows_findings_that_are_of_no_rule():
    run = sarif(files(WARNING, INFO))
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    assert (run["results"][1]["level"], run["tool"]["driver"]["rules"][0]["id"]) == ("note", "QM014")


def test_a_result_keeps_its_fingerprint_when_its_line_moves_and_two_results_have_two():
    moved = Finding(ERROR.id, ERROR.severity, ERROR.message, path=ERROR.path, position=Position("t.yaml", 99, 1))
    there = Finding(ERROR.id, ERROR.severity, ERROR.message, path=ERROR.path, position=Position("t.yaml", 1, 1))
    prints = [
        [result["partialFingerprints"]["primaryLocationLineHash"] for result in sarif(files(*found))["results"]]
        for found in ((moved,), (there,), (there, there))
    ]
    assert prints[0] == prints[1]
    assert len(set(prints[2])) == 2


# GitHub


def test_an_annotation_is_a_workflow_command_with_file_line_and_columns():
    assert annotations(files(ERROR)) == (
        "::error file=deploy/my topology.yaml,line=15,endLine=15,col=13,endColumn=17,title=Batch Quota QM110"
        "::the queue has priority 1001%0Aleave it out\n"
    )


def test_the_worst_annotations_come_first():
    commands = [line.partition(" ")[0] for line in annotations(files(INFO, WARNING, ERROR)).splitlines()]
    assert commands == ["::error", "::warning", "::notice"]


def test_nothing_in_a_name_ends_an_annotation_or_begins_another():
    hostile = Finding("QM110", Severity.ERROR, HOSTILE, HOSTILE, (), Position("a,b:c%.yaml", 1, 1, HOSTILE, 1))
    text = annotations(files(hostile))
    assert text.startswith("::error file=a%2Cb%3Ac%25.yaml,line=1,")
    assert text.count("\n") == 1
    assert "\x1b" not in text
    assert "%250A" in text


# JUnit


def test_junit_has_a_suite_a_file_and_a_case_a_rule():
    root = junit(files(ERROR))
    (suite,) = root
    assert (suite.get("name"), suite.get("failures")) == ("deploy/my topology.yaml", "1")
    (failed,) = [case for case in suite if len(case)]
    assert failed.get("name") == "QM110 Queue priority outside 0 to 1000"
    assert failed[0].text == ("deploy/my topology.yaml:15:13: error QM110 the queue has priority 1001\nleave it out")
    assert int(suite.get("tests")) == len(suite) > 50


def test_a_warning_fails_junit_only_if_it_fails_the_command():
    assert junit(files(WARNING)).get("failures") == "1"
    lenient = junit(files(WARNING, failing=frozenset({Severity.ERROR})))
    assert lenient.get("failures") == "0"
    assert [element.text for element in lenient.iter("system-out")] == [f"warning QM301 {WARNING.message}"]


def test_what_cannot_be_read_is_an_error_and_what_is_not_judged_is_skipped():
    (suite,) = junit(list(unreadable([ERROR], "t.yaml")))
    assert (suite.get("errors"), suite.get("failures"), suite[0][0].tag) == ("1", "0", "error")
    (suite,) = junit([CheckedFile("t.yaml", (Check("queue cost <= 5", not_judged="no baseline is given"),))])
    assert (suite.get("skipped"), suite[0][0].get("message")) == ("1", "no baseline is given")


# All of them


def test_markdown_is_a_table_of_findings_in_which_names_are_text():
    hostile = Finding("QM110", Severity.ERROR, HOSTILE, HOSTILE, (), Position("a|b.yaml", 3, 4))
    text = pipeline_text("markdown", "validate", files(hostile, WARNING), "1 topology: 1 error, 1 warning")
    assert text.startswith("## Batch Quota: 1 topology: 1 error, 1 warning\n")
    assert elements(text)["tr_open"] == 3
    assert not {"html_block", "html_inline", "link_open", "code_inline", "image"} & set(elements(text))
    assert pipeline_text("markdown", "validate", files(), "1 topology: no findings").count("\n") == 1


@settings(max_examples=40)
@given(st.text(), st.text(), st.text(min_size=1))
def test_no_text_whatever_breaks_a_form(message: str, mend: str, file: str):
    finding = Finding("QM110", Severity.ERROR, message, mend, (message,), Position(file, 1, 1, message, 0))
    checked = [CheckedFile(file, (*rule_checks([finding], BOTH), Check(message, not_judged=mend)), label=message)]
    assert len(sarif(checked)["results"]) == 1
    assert junit(checked).get("failures") == "1"
    assert pipeline_text("github", "validate", checked, "").count("\n") == 1
    assert elements(pipeline_text("markdown", "validate", checked, message))["tr_open"] == 2


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / ".git").mkdir()
    (tmp_path / "infra").mkdir()
    monkeypatch.chdir(tmp_path / "infra")
    return tmp_path


def test_files_are_named_from_the_root_of_the_repository_wherever_the_command_runs(repository: Path):
    assert path_in_repository("topology.yaml") == "infra/topology.yaml"
    assert path_in_repository("../topology.yaml") == "topology.yaml"
    assert path_in_repository(str(repository / "infra" / "topology.yaml")) == "infra/topology.yaml"


@pytest.mark.usefixtures("repository")
def test_files_outside_of_the_repository_keep_their_path():
    outside = Finding("QM110", Severity.ERROR, "m", position=Position("/elsewhere/a b.yaml", 1, 1))
    assert path_in_repository("/elsewhere/a b.yaml") == "/elsewhere/a b.yaml"
    place = sarif([CheckedFile("t", (Check("c", (outside,)),))])["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "file:///elsewhere/a%20b.yaml"
