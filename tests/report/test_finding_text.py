import io
import json

import pytest

from policy_engine.diagnostics import Finding, InputError, Position, Severity, described, one_line
from policy_engine.report.diagnostics import finding_text, findings_json, summary_text, wants_color


def finding(text: str = "        strategy: LENT", column: int = 19, length: int = 4, **fields: object) -> Finding:
    position = Position("t.yaml", 18, column, text, length)
    return Finding("QM003", Severity.ERROR, "'strategy': wrong", "did you mean 'LEND'?", ("a", 0), position)


def test_a_finding_shows_the_place_the_line_a_caret_and_help():
    assert finding_text(finding(), color=False).splitlines() == [
        "t.yaml:18:19: error QM003 'strategy': wrong",
        " 18 |         strategy: LENT",
        "    |                   ^^^^",
        "    = help: did you mean 'LEND'?",
    ]


def test_what_is_not_known_is_left_out():
    bare = Finding("QM301", Severity.WARNING, "no time limit")
    assert finding_text(bare, color=False) == "warning QM301 no time limit"
    of_a_file = Finding("QM006", Severity.ERROR, "this is a directory", position=Position("d", 1, 1))
    assert finding_text(of_a_file, color=False) == "d:1:1: error QM006 this is a directory"


@pytest.mark.parametrize(
    ("text", "column", "length", "shown", "carets"),
    [
        ("ab", 3, 1, "ab", "  ^"),
        ("\tname: x", 8, 1, " name: x", "       ^"),
        ("日本: x", 5, 1, "日本: x", "      ^"),
        ("é: x", 4, 1, "é: x", "   ^"),
        ("e\u0301: x", 5, 1, "e\u0301: x", "   ^"),
        ("日本", 1, 2, "日本", "^^^^"),
        ("a\x1b[31m", 1, 1, "a\ufffd[31m", "^"),
        ("x: abc", 4, 99, "x: abc", "   ^^^"),
    ],
)
def test_the_caret_stands_below_what_is_meant(text: str, column: int, length: int, shown: str, carets: str):
    _, line, below, _ = finding_text(finding(text, column, length), color=False).splitlines()
    assert line == f" 18 | {shown}"
    assert below == f"    | {carets}"


@pytest.mark.parametrize("column", [1, 40, 75, 76, 200, 390])
def test_a_long_line_is_cut_around_the_place_and_fits_80_columns(column: int):
    text = "".join(f"{n:04}" for n in range(100))
    _, line, below, _ = finding_text(finding(text, column, 4), color=False).splitlines()
    assert len(line) <= 80
    assert line[below.index("^") :].startswith(text[column - 1 : column + 3])
    assert below.count("^") == 4


def test_what_a_terminal_would_act_upon_is_not_printed():
    hostile = Finding("QM003", Severity.ERROR, "a\x1b]0;b\x07", "c\nd", (), Position("e\x1bf", 1, 1, "\x9bg", 1))
    shown = finding_text(hostile, color=False)
    assert shown.splitlines() == ["e�f:1:1: error QM003 a�]0;b�", " 1 | �g", "   | ^", "   = help: c�d"]


def test_color_marks_the_severity_and_the_caret_only_if_asked_for():
    colored = finding_text(finding(), color=True)
    assert "\x1b[31m\x1b[1merror QM003\x1b[0m" in colored
    assert "\x1b[31m                  ^^^^\x1b[0m" in colored
    assert "\x1b" not in finding_text(finding(), color=False)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("no_color", "wanted"), [(None, True), ("", True), ("1", False)])
def test_color_is_for_terminals_whose_user_wants_it(
    monkeypatch: pytest.MonkeyPatch, no_color: str | None, wanted: object
):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    assert wants_color(Terminal()) is wanted
    assert wants_color(io.StringIO()) is False


def test_json_has_all_of_every_finding():
    document = json.loads(findings_json({"t.yaml": [finding()], "u.yaml": [Finding("QM301", Severity.WARNING, "w")]}))
    assert document == {
        "version": 1,
        "files": [
            {
                "file": "t.yaml",
                "findings": [
                    {
                        "id": "QM003",
                        "severity": "error",
                        "message": "'strategy': wrong",
                        "help": "did you mean 'LEND'?",
                        "path": ["a", 0],
                        "position": {"file": "t.yaml", "line": 18, "column": 19, "length": 4},
                    }
                ],
            },
            {
                "file": "u.yaml",
                "findings": [
                    {"id": "QM301", "severity": "warning", "message": "w", "help": "", "path": [], "position": None}
                ],
            },
        ],
        "summary": {"error": 1, "warning": 1, "info": 0},
    }


@pytest.mark.parametrize(
    ("severities", "files", "text"),
    [
        ([], 1, "1 topology: no findings"),
        (["error", "error", "warning"], 2, "2 topologies: 2 errors, 1 warning"),
        (["info"], 3, "3 topologies: 1 info"),
        (["info", "info"], 1, "1 topology: 2 infos"),
    ],
)
def test_the_summary_counts(severities: list[str], files: int, text: str):
    assert summary_text([Finding("X", Severity(severity), "m") for severity in severities], files) == text


def test_an_input_error_reads_as_its_findings_one_a_line():
    error = InputError([finding(), Finding("QM006", Severity.ERROR, "gone")])
    assert str(error).splitlines() == [
        "t.yaml:18:19: error QM003: 'strategy': wrong (did you mean 'LEND'?)",
        "error QM006: gone",
    ]
    assert one_line(error.findings[1]) == "error QM006: gone"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("LENT", "'LENT'"),
        ("x" * 100, "'" + "x" * 60 + "…'"),
        (True, "true"),
        (None, "null"),
        ({}, "a mapping"),
        ([], "a list"),
        ((), "a list"),
        (1.5, "1.5"),
        (float("nan"), ".nan"),
        (float("-inf"), "-.inf"),
        (7, "7"),
    ],
)
def test_values_are_named_as_they_are_written(value: object, text: str):
    assert described(value) == text
