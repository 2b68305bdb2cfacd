import io
import json
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.diagnostics import Finding, InputError, Severity
from policy_engine.topology import (
    ResourceSharingStrategy,
    ShareState,
    TimeLimit,
    Topology,
    parse_topology,
    read_topology,
)

DESIGN = """\
name: ml-training
capacity: {ml.g5.xlarge: 16, ml.g5.48xlarge: 4}
queue:
  priority: 10
  time_limits:
    - {reason: "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", after: 1h}
teams:
  search:
    submitters: ["arn:aws:iam::111122223333:role/search-ds"]
    tags: {cost-center: "4711"}
    shares:
      search-prod:
        capacity: {ml.g5.48xlarge: 2}
        strategy: RESERVE
      search-background:
        capacity: {ml.g5.xlarge: 8}
        strategy: LEND_AND_BORROW
        borrow_limit: 200
        in_share_preemption: true
        max_priority: 500
expectations:
  search-prod: {preemptions: 0, wait_p95: 5m}
  queue: {utilization: ">= 60%", lost_instance_hours_per_day: "<= 20"}
assumptions: {stop_seconds: 120}
"""
SHARES = """\
name: t
capacity: {ml.g5.xlarge: 2}
teams:
  a:
    shares:
"""


def findings_of(text: str | bytes) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        parse_topology(text, "t.yaml")
    assert all(finding.severity is Severity.ERROR for finding in caught.value.findings)
    return caught.value.findings


def said(text: str | bytes) -> list[str]:
    """Findings as `line:column id message | help`, in their order."""
    return [
        f"{finding.position.line}:{finding.position.column} {finding.id} {finding.message} | {finding.help}".strip(" |")
        for finding in findings_of(text)
        if finding.position
    ]


def test_the_documented_form_is_read_whole():
    topology = parse_topology(DESIGN).topology
    search = topology.teams["search"]
    background = search.shares["search-background"]
    assert topology.capacity == {"ml.g5.xlarge": 16, "ml.g5.48xlarge": 4}
    assert topology.queue.time_limits == (
        TimeLimit(reason="MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", after="1h"),
    )
    assert search.submitters == ("arn:aws:iam::111122223333:role/search-ds",)
    assert search.tags == {"cost-center": "4711"}
    assert background.strategy is ResourceSharingStrategy.LEND_AND_BORROW
    assert (background.borrow_limit, background.in_share_preemption, background.max_priority) == (200, True, 500)
    assert [expectation.bound for expectation in topology.expectations["search-prod"].stated()] == ["<= 5m", "<= 0"]
    assert topology.assumptions.stop_seconds == 120_000


def test_the_same_topology_as_python_objects_is_equal():
    topology = Topology(
        name="ml-training",
        capacity={"ml.g5.xlarge": 16, "ml.g5.48xlarge": 4},
        queue={
            "priority": 10,
            "time_limits": [{"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "after": 3600}],
        },
        teams={
            "search": {
                "submitters": ["arn:aws:iam::111122223333:role/search-ds"],
                "tags": {"cost-center": "4711"},
                "shares": {
                    "search-prod": {"capacity": {"ml.g5.48xlarge": 2}, "strategy": "RESERVE"},
                    "search-background": {
                        "capacity": {"ml.g5.xlarge": 8},
                        "strategy": ResourceSharingStrategy.LEND_AND_BORROW,
                        "borrow_limit": 200,
                        "in_share_preemption": True,
                        "max_priority": 500,
                        "state": ShareState.ENABLED,
                    },
                },
            }
        },
        expectations={
            "search-prod": {"preemptions": 0, "wait_p95": "5m"},
            "queue": {"utilization": ">= 60%", "lost_instance_hours_per_day": "<= 20"},
        },
        assumptions={"stop_seconds": 120},
    )
    assert topology == parse_topology(DESIGN).topology


def test_json_is_read_like_yaml_tabs_included():
    topology = parse_topology(DESIGN).topology
    as_json = json.dumps(topology.model_dump(mode="json", exclude_none=True), indent="\t")
    assert parse_topology(as_json).topology == topology
    assert parse_topology(topology.model_dump_json()).topology == topology


def test_all_errors_are_told_at_once_by_position():
    text = """\
name: 2024
capcity: {ml.g5.xlarge: 16}
queue:
  priority: "10"
  time_limits:
    - {reason: x, after: 5 m}
    - reason: y
teams:
  search:
    submiters: [a]
    shares:
      prod:
        strategy: lend
        capacity: {ml.g5.xlarge: 16.0}
        in_share_preemption: yes
        borrow_limit: 200%
      other: [1]
expectations:
  serch: {preemptions: 0}
  prod: {wait_p95: soon, utilization: 60%, wait_p90: 1}
assumptions: {head_of_line: strct, capacity_retry_seconds: 0}
suppressions: {rule: QM1}
"""
    assert said(text) == [
        "1:7 QM003 'name': expected a text, not 2024 | put it in quotes: \"2024\"",
        "2:1 QM002 a topology has no key 'capcity' | did you mean 'capacity'?",
        "4:13 QM003 'priority': expected a whole number, not '10' | write 10",
        "6:26 QM003 'after': expected a duration such as 90s, 5m, 1h30m or 2d, or a number of seconds, not '5 m'",
        "7:7 QM004 'time_limits', item 2 has no 'after' | "
        "after: How long the job may block before it is terminated (10m to 24h).",
        "10:5 QM002 a team has no key 'submiters' | did you mean 'submitters'?",
        "13:19 QM003 'strategy': expected RESERVE, LEND or LEND_AND_BORROW, not 'lend' | did you mean 'LEND'?",
        "14:34 QM003 'ml.g5.xlarge': expected a whole number, not 16.0 | write 16",
        "15:30 QM003 'in_share_preemption': expected true or false, not 'yes' | "
        "yes, no, on and off are texts in YAML 1.2: write true or false",
        "16:23 QM003 'borrow_limit': expected a whole number, not '200%' | write 200",
        "17:7 QM003 'other': expected a mapping, not a list | write names as keys, without '-'",
        "19:3 QM010 no share and no team has the name 'serch' | did you mean 'search'?",
        "20:20 QM003 'wait_p95': expected a duration such as 90s, 5m, 1h30m or 2d, or a number of seconds, not 'soon'",
        "20:39 QM003 'utilization': expected a bound such as '>= 60%', not '60%'; "
        "say with '>=' or '<=' which way it is meant",
        "20:44 QM002 there is no metric 'wait_p90' | did you mean 'wait_p99'?",
        "21:29 QM003 'head_of_line': expected strict, per_unit or none, not 'strct' | did you mean 'strict'?",
        "21:60 QM003 'capacity_retry_seconds': expected more than 0, not 0",
        "22:1 QM003 'suppressions': expected a list, not a mapping | write [a, b], or a line with '- ' for each item",
    ]


def test_a_finding_carries_path_line_and_length():
    (finding,) = findings_of(SHARES + "      s: {capacity: {ml.g5.xlarge: 1}, strategy: LENT}\n")
    assert finding.path == ("teams", "a", "shares", "s", "strategy")
    assert finding.position is not None
    assert finding.position.text == "      s: {capacity: {ml.g5.xlarge: 1}, strategy: LENT}"
    assert finding.position.text[finding.position.column - 1 :][: finding.position.length] == "LENT"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("priority: 5\n", "a topology has no key 'priority' | 'priority' is a key of the queue"),
        ("in_share_preemption: true\n", "'in_share_preemption' is a key of a quota share"),
        ("zzz: 1\n", "known: name, capacity, queue, teams, expectations, assumptions, suppressions"),
        ("Teams: {}\n", "did you mean 'teams'?"),
    ],
)
def test_an_unknown_key_is_answered_by_the_nearest_its_home_or_all(text: str, expected: str):
    assert any(expected in line for line in said(text))


def test_a_misspelt_required_key_is_not_also_called_missing():
    assert [finding.id for finding in findings_of("nam: x\ncapacity: {}\nteams: {}\n")] == ["QM002"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("true", "expected a whole number, not true"),
        ("1.5", "expected a whole number, not 1.5"),
        ("2147483648", "expected less than 2147483648, not 2147483648"),
        ("99999999999999999999", "the number 999999999999999999… is too large"),
        ("16x", "expected a whole number, not '16x'"),
        ("1_000", "expected a whole number, not '1_000'"),
        (".nan", "expected a whole number, not .nan"),
        ("[[1]]", "expected a whole number, not a list"),
        ("null", "expected a whole number, not null"),
        ("", "'ml.g5.xlarge' has no value"),
    ],
)
def test_a_quantity_is_a_whole_number(value: str, expected: str):
    (finding,) = findings_of(f"name: t\nteams: {{}}\ncapacity:\n  ml.g5.xlarge: {value}\n")
    assert expected in finding.message


def test_hexadecimal_and_octal_numbers_of_yaml_1_2_are_numbers():
    text = "name: t\nteams: {}\ncapacity: {ml.g5.xlarge: 0x10, ml.g5.2xlarge: 0o17, ml.g5.4xlarge: +3}\n"
    assert list(parse_topology(text).topology.capacity.values()) == [16, 15, 3]


def test_null_means_left_out_where_a_key_may_be_left_out():
    share = "{capacity: {ml.g5.xlarge: 1}, strategy: LEND_AND_BORROW, borrow_limit: null}"
    topology = parse_topology(f"{SHARES}      s: {share}\n").topology
    assert topology.teams["a"].shares["s"].borrow_percent == -1


@pytest.mark.parametrize(
    ("expectations", "message", "mend"),
    [
        ("{b: {}}", "no share and no team has the name 'b'", "known: queue, a, s, t, queue-share"),
        ("{a: {preemptions: 0}}", "", ""),
        ("{t: {preemptions: 0}}", "", ""),
        ("{queue: {preemptions: 0}}", "", ""),
        ("{shr: {}}", "no share and no team has the name 'shr'", None),
    ],
)
def test_expectations_are_of_a_share_a_team_or_the_queue(expectations: str, message: str, mend: str | None):
    share = "{capacity: {ml.g5.xlarge: 1}, strategy: LEND}"
    text = f"{SHARES}      s: {share}\n      t: {share}\n      queue-share: {share}\nexpectations: {expectations}\n"
    if not message:
        assert parse_topology(text).topology.expectations
        return
    (finding,) = findings_of(text)
    assert (finding.id, finding.message) == ("QM010", message)
    assert mend is None or finding.help == mend


@pytest.mark.parametrize(
    ("share", "target", "message"),
    [
        ("queue", "queue", "'queue' means the whole queue here, and a share or team has that name too"),
        ("a", "a", "'a' is the name of a share and of a team: it is not clear which is meant"),
    ],
)
def test_an_expectation_of_two_things_is_refused(share: str, target: str, message: str):
    body = "{capacity: {ml.g5.xlarge: 1}, strategy: LEND}"
    (finding,) = findings_of(f"{SHARES}      {share}: {body}\n      z: {body}\nexpectations: {{{target}: {{}}}}\n")
    assert (finding.id, finding.message, finding.help) == ("QM010", message, "rename one of them")


def test_a_team_of_one_share_of_its_name_is_not_ambiguous():
    text = (
        f"{SHARES}      a: {{capacity: {{ml.g5.xlarge: 1}}, strategy: LEND}}\nexpectations: {{a: {{preemptions: 0}}}}\n"
    )
    assert parse_topology(text).topology.expectations["a"].stated()


def test_wrong_expectations_are_told_beside_other_errors():
    text = f"{SHARES}      s: {{strategy: LEND}}\nexpectations: {{z: {{}}}}\n"
    assert [finding.id for finding in findings_of(text)] == ["QM004", "QM010"]


def test_a_file_is_read_by_its_path(tmp_path: Path):
    path = tmp_path / "t.yaml"
    path.write_text(DESIGN)
    document = read_topology(path)
    position = document.sources.position(("name",))
    assert position is not None
    assert (position.file, position.line, position.column) == (str(path), 1, 7)


def test_a_dash_is_standard_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"name: 1\n")))
    with pytest.raises(InputError, match=r"<stdin>:1:7: error QM003"):
        read_topology("-")


def test_a_missing_file_suggests_the_one_meant(tmp_path: Path):
    (tmp_path / "topology.yaml").write_text(DESIGN)
    with pytest.raises(
        InputError, match=r"topolgy.yaml:1:1: error QM006: there is no such file \(did you mean 'topology"
    ):
        read_topology(tmp_path / "topolgy.yaml")


def test_a_missing_folder_suggests_nothing(tmp_path: Path):
    with pytest.raises(InputError) as caught:
        read_topology(tmp_path / "none" / "t.yaml")
    assert [(finding.message, finding.help) for finding in caught.value.findings] == [("there is no such file", "")]


def test_a_directory_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="QM006: this is a directory"):
        read_topology(tmp_path)


def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    # Root, as whom tests may run, reads everything: the operating system's answer is stood in for.
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="QM006: you may not read this file"):
        read_topology(tmp_path / "t.yaml")


def test_a_name_that_no_file_can_have_is_refused():
    with pytest.raises(InputError, match="QM006: this is no file name"):
        read_topology("a\0b")


def test_a_file_without_end_is_read_up_to_the_limit():
    with pytest.raises(InputError, match="QM008"):
        read_topology("/dev/zero")


words = st.text(st.sampled_from("abcXYZ019_-"), min_size=1, max_size=8)
quantities = st.dictionaries(st.sampled_from(["ml.g5.xlarge", "ml.g5.48xlarge", "ml.p5.48xlarge"]), st.integers(1, 999))
tags = st.dictionaries(words, st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12), max_size=2)
shares = st.fixed_dictionaries(
    {"capacity": quantities, "strategy": st.sampled_from([*ResourceSharingStrategy])},
    optional={
        "borrow_limit": st.integers(-1, 1000) | st.none(),
        "in_share_preemption": st.booleans(),
        "max_priority": st.integers(0, 9999),
        "largest_job": quantities,
        "tags": tags,
    },
)
topologies = st.fixed_dictionaries(
    {
        "name": words,
        "capacity": quantities,
        "teams": st.dictionaries(
            words,
            st.fixed_dictionaries({"shares": st.dictionaries(words, shares, max_size=3)}, optional={"tags": tags}),
        ),
    },
    optional={
        "expectations": st.just({"queue": {"wait_p50": "1h", "utilization": ">= 61.5%", "never_ran": 0}}),
        "assumptions": st.just({"stop_seconds": 1.5, "startup_seconds": {"default": "3m", "ml.g5.xlarge": 4}}),
    },
).map(lambda data: data | ({} if "queue" not in str(data["teams"]) else {"expectations": {}}))


@settings(deadline=None)
@given(topologies)
def test_a_topology_written_as_json_is_read_back_equal(data: dict[str, object]):
    topology = Topology.model_validate(data)
    assert parse_topology(topology.model_dump_json()).topology == topology


def findings_or_none(content: str | bytes) -> tuple[Finding, ...] | None:
    try:
        parse_topology(content)
    except InputError as error:
        return error.findings
    return None


@settings(deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode(errors="replace")))
def test_whatever_the_bytes_are_the_answer_is_a_topology_or_findings(content: bytes):
    assert findings_or_none(content) != ()


FRAGMENTS = (
    *(": ", "\n", "\n  ", "- ", "[", "]", "{", "}", ",", "&a ", "*a", "<<", "'", '"', "#", "|", ">", "? ", "\t", "\\"),
    *("!!str ", "!x", "%YAML 1.2", "---", "...", "1", "true", "~", "x", "@", "é", "name", "teams", "queue"),
)


@settings(deadline=None)
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join))
def test_whatever_the_yaml_is_every_finding_is_on_the_page(text: str):
    for finding in findings_or_none(text) or ():
        assert finding.position is not None
        assert 1 <= finding.position.line <= len(text.splitlines()) + 1
        assert finding.position.length >= 1
