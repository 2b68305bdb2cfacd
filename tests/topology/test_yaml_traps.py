"""What YAML makes easy to get wrong, and what hostile files try: read by YAML 1.2, or refused with a clear message."""

import json

import pytest

from policy_engine.diagnostics import Finding, InputError
from policy_engine.topology import parse_topology
from policy_engine.topology.document.dialect import TOPOLOGY

HEAD = "name: t\ncapacity: {ml.g5.xlarge: 2}\n"
SHARE = "{capacity: {ml.g5.xlarge: 1}, strategy: LEND}"


def findings_of(text: str | bytes) -> tuple[Finding, ...]:
    with pytest.raises(InputError) as caught:
        parse_topology(text, "t.yaml")
    return caught.value.findings


def place(finding: Finding) -> str:
    assert finding.position is not None
    return f"{finding.position.line}:{finding.position.column}"


@pytest.mark.parametrize(
    "name", ["NO", "no", "on", "off", "yes", "y", "N", "Null-1", "1a", "0x", "1_0", "1:30", "=", "2024-01-01"]
)
def test_a_name_that_yaml_1_1_takes_for_something_else_is_a_text(name: str):
    topology = parse_topology(f"{HEAD}teams:\n  a:\n    shares:\n      {name}: {SHARE}\n").topology
    assert list(topology.teams["a"].shares) == [name]


@pytest.mark.parametrize("name", ["1", "4711", "1.5", "1e3", "0x1f", "0o7", "true", "False", "null", "~", ".inf"])
def test_a_name_that_is_a_number_or_a_word_of_yaml_needs_quotes(name: str):
    (finding,) = findings_of(f"{HEAD}teams:\n  a:\n    shares:\n      {name}: {SHARE}\n")
    assert (finding.id, finding.message) == ("QM003", f"the key {name} is not a text")
    assert finding.help == f'put it in quotes: "{name}"'
    assert place(finding) == "6:7"


@pytest.mark.parametrize("name", ['"1"', "'true'", "!!str 1", '"NO"', "! 1"])
def test_quotes_and_the_str_tag_make_a_text_of_anything(name: str):
    topology = parse_topology(f"name: {name}\ncapacity: {{ml.g5.xlarge: 2}}\nteams: {{}}\n").topology
    assert topology.name == name.removeprefix("!!str ").removeprefix("! ").strip("\"'")


@pytest.mark.parametrize("value", ["yes", "no", "on", "off", "Yes", "y"])
def test_booleans_are_true_and_false_only(value: str):
    share = f"{{capacity: {{ml.g5.xlarge: 1}}, strategy: LEND, in_share_preemption: {value}}}"
    (finding,) = findings_of(f"{HEAD}teams: {{a: {{shares: {{s: {share}}}}}}}\n")
    assert finding.message == f"'in_share_preemption': expected true or false, not '{value}'"
    assert finding.help == "yes, no, on and off are texts in YAML 1.2: write true or false"


@pytest.mark.parametrize(
    ("value", "digits"), [("010", "10"), ("0755", "755"), ("-012", "12"), ("00", "0"), ("+01", "1")]
)
def test_a_number_with_leading_zeros_is_refused(value: str, digits: str):
    (finding,) = findings_of(f"{HEAD}queue: {{priority: {value}}}\nteams: {{}}\n")
    assert (finding.id, place(finding)) == ("QM003", "3:19")
    assert finding.message == f"{value} is octal to some readers and decimal to others"
    assert finding.help == f"write {digits} for the number, or quotes around it for a text"


def test_a_tag_value_that_is_a_number_is_told_to_be_quoted_as_it_is_written():
    (finding,) = findings_of(f"{HEAD}teams: {{}}\nqueue: {{tags: {{cost-center: 47.10}}}}\n")
    assert finding.message == "'cost-center': expected a text, not 47.1"
    assert finding.help == 'put it in quotes: "47.10"'


@pytest.mark.parametrize(
    "text",
    [
        f"{HEAD}name: u\nteams: {{}}\n",
        json.dumps({"name": "t", "capacity": {}, "teams": {}})[:-1] + ', "name": "u"}',
    ],
)
def test_a_key_that_occurs_twice_is_refused_in_yaml_and_json(text: str):
    (finding,) = findings_of(text)
    assert (finding.id, finding.message) == ("QM005", "the key 'name' occurs twice")
    assert finding.help == "it is on line 1 already; keep one of the two"
    assert finding.position is not None
    assert finding.position.text[finding.position.column - 1 :].lstrip('"').startswith("name")


def test_every_repeated_key_is_told():
    team = "  a: {shares: {}}\n"
    text = f"{HEAD}teams:\n{team}{team}{team}queue: {{priority: 1, priority: 2}}\n"
    assert [(finding.id, place(finding)) for finding in findings_of(text)] == [
        ("QM005", "5:3"),
        ("QM005", "6:3"),
        ("QM005", "7:22"),
    ]


def test_a_key_without_a_value_is_refused_and_not_taken_for_a_default():
    share = "\n        capacity: {ml.g5.xlarge: 1}\n        strategy: LEND_AND_BORROW\n        borrow_limit:\n"
    (finding,) = findings_of(f"{HEAD}teams:\n  a:\n    shares:\n      s:{share}")
    assert (finding.message, finding.help) == ("'borrow_limit' has no value", "give it one, or remove it")
    assert place(finding) == "9:9"


ANCHORS = f"""\
{HEAD}x-defaults: &defaults
  strategy: LEND
  tags: {{kind: shared}}
teams:
  a:
    shares:
      s:
        <<: *defaults
        capacity: &one {{ml.g5.xlarge: 1}}
      t:
        <<: [{{strategy: RESERVE}}, *defaults]
        capacity: *one
        tags: {{kind: own}}
"""


def test_anchors_aliases_and_merges_are_written_out():
    shares = parse_topology(ANCHORS).topology.teams["a"].shares
    assert shares["s"].strategy == "LEND"
    assert shares["s"].tags == {"kind": "shared"}
    assert shares["t"].strategy == "RESERVE", "earlier mappings of a merge win"
    assert shares["t"].tags == {"kind": "own"}, "a mapping's own keys win"
    assert shares["t"].capacity == {"ml.g5.xlarge": 1}


def test_what_is_merged_or_aliased_has_the_position_where_it_is_written():
    sources = parse_topology(ANCHORS).sources
    share = ("teams", "a", "shares", "s")

    def at(*path: str) -> str:
        position = sources.position(path)
        return f"{position.line}:{position.column}" if position else ""

    assert at(*share, "strategy") == "4:13"
    assert at(*share, "tags", "kind") == "5:16"
    assert at("teams", "a", "shares", "t", "capacity") == "14:9"
    assert at("teams", "a", "shares", "t", "capacity", "ml.g5.xlarge") == "11:39"


def test_an_error_in_an_anchored_mapping_is_told_once_for_each_use_that_it_spoils():
    text = ANCHORS.replace("strategy: LEND", "strategy: LENT").replace("{strategy: RESERVE}, ", "")
    assert {(finding.id, place(finding)) for finding in findings_of(text)} == {("QM003", "4:13")}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("&a [*a]", "*a stands inside what it is an alias of"),
        ("&a {b: {c: *a}}", "*a stands inside what it is an alias of"),
        ("*b", "there is no anchor &b before this alias"),
        ("{<<: 1}", "'<<' merges mappings only"),
        ("{<<: [{a: 1}, 2]}", "'<<' merges mappings only"),
        ("!!python/object:os.system x", "the tag !!python/object:os.system is not supported"),
        ("!Ref x", "the tag !Ref is not supported"),
        ("!!binary aGk=", "the tag !!binary is not supported"),
        ("!!set {a}", "the tag !!set is not supported"),
    ],
)
def test_anchors_and_tags_that_cannot_be_meant_are_refused(value: str, message: str):
    assert message in [finding.message for finding in findings_of(f"{HEAD}teams: {{}}\nx-a: {value}\n")]


def laughs(levels: int) -> str:
    lines = ["x-0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"x-{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]" for level in range(1, levels)]
    return HEAD + "teams: {}\n" + "\n".join(lines) + "\n"


def test_a_billion_laughs_are_refused_where_they_pass_the_limit():
    (finding,) = findings_of(laughs(10))
    assert (finding.id, place(finding)) == ("QM008", "8:16")
    assert finding.message == f"the document has more than {TOPOLOGY.max_nodes:,} values, with its aliases written out"


def test_a_few_laughs_are_fine():
    assert parse_topology(laughs(3)).topology.name == "t"


def test_merges_of_merges_count_too():
    lines = ["x-0: &a0 {k: 1}"] + [f"x-{n}: &a{n} {{<<: [{', '.join([f'*a{n - 1}'] * 9)}]}}" for n in range(1, 10)]
    (finding,) = findings_of(HEAD + "teams: {}\n" + "\n".join(lines) + "\n")
    assert finding.id == "QM008"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        "{a: " * 50_000,
        "- " * 100_000,
        "? " * 100_000,
        "\n".join(" " * n + "a:" for n in range(600)),
    ],
    ids=["lists", "json", "mappings", "items", "keys", "indented"],
)
def test_deep_nesting_is_refused_without_recursion(text: str):
    (finding,) = findings_of(text)
    assert (finding.id, finding.message) == (
        "QM008",
        f"lists and mappings are nested more than {TOPOLOGY.max_depth} deep",
    )


def test_aliases_do_not_hide_depth():
    lines = ["x-0: &a0 [1]"] + [f"x-{n}: &a{n} [*a{n - 1}]" for n in range(1, 60)]
    (finding,) = findings_of("\n".join(lines))
    assert finding.message == f"lists and mappings are nested more than {TOPOLOGY.max_depth} deep"


@pytest.mark.parametrize("text", ["[" + "1," * 60_000 + "]", "{" + "a," * 60_000 + "}", "- 1\n" * 60_000])
def test_a_document_of_very_many_values_is_refused(text: str):
    (finding,) = findings_of(text)
    assert finding.id == "QM008"


def test_a_large_file_is_refused_before_it_is_parsed():
    (finding,) = findings_of("a: [" + "1, " * 3_500_000 + "]")
    assert (finding.id, place(finding)) == ("QM008", "1:1")
    assert finding.message == "the file is larger than 256 KiB, the most that a topology may have"


def test_a_file_of_the_largest_size_is_read():
    text = f"{HEAD}teams: {{}}\n"
    assert parse_topology(text + "#" * (TOPOLOGY.max_bytes - len(text))).topology.name == "t"


def test_a_byte_order_mark_is_skipped_and_shifts_no_column():
    (finding,) = findings_of(b"\xef\xbb\xbf" + b"name: 1\ncapacity: {}\nteams: {}\n")
    assert place(finding) == "1:7"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_a_file_that_is_not_utf_8_is_refused(encoding: str):
    (finding,) = findings_of("name: café\n".encode(encoding))
    assert finding.id == "QM007"


@pytest.mark.parametrize(
    ("content", "where", "message"),
    [
        (b"name: caf\xe9\n", "1:10", "the byte 0xE9 here is not UTF-8"),
        (b"name: x\n# \xc3\xa9\xff\n", "2:4", "the byte 0xFF here is not UTF-8"),
        (b"name: x\ncapacity: \0\n", "2:11", "the file has a NUL byte here"),
        (b"name: \x1b[31mred\n", "1:7", "the file has the control character U+001B here"),
        ("name: x\ud800\n", "1:8", "the file has the control character U+D800 here"),
        ("name: \uffff\n", "1:7", "the file has the control character U+FFFF here"),
    ],
)
def test_bytes_that_are_no_text_are_pointed_at(content: bytes | str, where: str, message: str):
    (finding,) = findings_of(content)
    assert (finding.id, place(finding), finding.message) == ("QM007", where, message)


@pytest.mark.parametrize("escape", ["\\u0000", "\\u001b", "\\ud83d", "\\x7f"])
def test_escapes_make_no_characters_that_cannot_be_printed(escape: str):
    (finding,) = findings_of(f'{{"name": "{escape}", "capacity": {{}}, "teams": {{}}}}')
    assert (finding.id, place(finding)) == ("QM003", "1:10")


def test_surrogate_pairs_of_json_are_one_character():
    name = "\N{ROCKET}"
    assert parse_topology(json.dumps({"name": name, "capacity": {}, "teams": {}})).topology.name == name


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n", "---\n", "---\n...\n", "\ufeff", "%YAML 1.2\n---\n"])
def test_an_empty_file_says_so(text: str):
    (finding,) = findings_of(text)
    assert (finding.id, finding.message, finding.help) == (
        "QM001",
        "the file is empty",
        "write at least name, capacity and teams",
    )


@pytest.mark.parametrize(
    ("text", "given"),
    [("just text\n", "'just text'"), ("- a\n", "a list"), ("[]", "a list"), ("~", "null"), ("5", "5")],
)
def test_a_document_that_is_no_mapping_says_so(text: str, given: str):
    (finding,) = findings_of(text)
    assert finding.message == f"the topology: expected a mapping, not {given}"
    assert finding.help == "start with keys such as 'name: ml-training'"


@pytest.mark.parametrize("text", ["name: t\n---\nname: u\n", "name: t\n...\n---\nname: u\n", "name: t\n---\n"])
def test_a_second_document_is_refused(text: str):
    (finding,) = findings_of(text)
    assert (finding.id, finding.message) == ("QM009", "a second document starts here: a file holds one topology")


def test_a_document_between_its_markers_is_read():
    assert parse_topology(f"---\n{HEAD}teams: {{}}\n...\n").topology.name == "t"


@pytest.mark.parametrize("version", ["1.1", "1.3", "2.0", "1." + "9" * 5000, "x", ""])
def test_other_versions_of_yaml_are_refused(version: str):
    (finding,) = findings_of(f"# c\n%YAML {version}\n---\n{HEAD}teams: {{}}\n")
    assert (finding.id, place(finding), finding.help) == ("QM009", "2:1", "remove the %YAML line")


@pytest.mark.parametrize("escape", ["\\U99999999", "\\U00110000"])
def test_escapes_of_no_character_are_refused(escape: str):
    (finding,) = findings_of(f'x-a: "\\U0001F680"\nname: "a{escape}"\n')
    assert (finding.id, place(finding), finding.message) == ("QM001", "2:9", f"there is no character {escape}")


def test_the_directive_of_yaml_1_2_is_accepted():
    assert parse_topology(f"%YAML 1.2\n---\n{HEAD}teams: {{}}\n").topology.name == "t"


SYNTAX = [
    ("a:\n\tb: 1\n", "2:1", "a tab stands where only spaces may stand", "indent with spaces"),
    ("a: b: c\n", "1:5", "a ':' is not expected here", "put a text that holds ': ' in quotes"),
    ("a: x\n  b: y\n", "2:4", "a ':' is not expected here", "indent a key like the others"),
    ("a: [1, 2\nb: 3\n", "2:2", "expected ',' or ']', not ':'", "the '[' of line 1, column 4 is still open"),
    ('{"a": 1', "1:8", "expected ',' or '}', not the end of the file", "the '{' of line 1, column 1 is still open"),
    ('{"a": "1"\n "b": 2}', "2:2", "expected ',' or '}', not a text", "the '{' of line 1, column 1 is still open"),
    ('a: "abc\nb: 1\n', "1:4", "the quote that opens here is never closed", "close it"),
    ("a: @x\n", "1:4", "a text cannot start with @", 'put the text in quotes: "@…"'),
    ("a: `x`\n", "1:4", "a text cannot start with `", 'put the text in quotes: "`…"'),
    ("a: {b: 1}}\n", "1:10", "expected a value, not '}'", "remove it"),
    ("{a: 1,, b: 2}", "1:7", "expected a value, not ','", "remove it"),
    ("a:\n    b: 1\n  c: 2\n", "3:3", "the indentation fits none of the lines above", "line 1, column 1"),
    ("a: 1\nb\n", "2:1", "expected 'key: value'", "add ':' and a space after the key"),
    ('a: "\\q"\n', "1:6", "'\\q' is no escape sequence", "use single quotes"),
    ("a: - b\n", "1:4", "a list item cannot start here", "on a line of its own"),
    ('"a":1\n', "1:4", "expected the end of the document", "one mapping"),
    ("? [a, b]\n: 1\n", "1:3", "expected a text as a key, not a list", ""),
    ("a: 1\n: 2\n", "2:1", "a key is missing", "write it before the ':'"),
]


@pytest.mark.parametrize(("text", "where", "message", "mend"), SYNTAX, ids=[case[0] for case in SYNTAX])
def test_a_syntax_error_is_explained_where_it_can_be_mended(text: str, where: str, message: str, mend: str):
    told = {(place(finding), finding.message): finding.help for finding in findings_of(text)}
    assert mend in told[where, message]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_are_counted_however_they_end(end: str):
    (finding,) = findings_of(end.join(["# c", "name: 1", "capacity: {}", "teams: {}", ""]))
    assert place(finding) == "2:7"
    assert finding.position is not None
    assert finding.position.text == "name: 1"


def test_keys_that_start_with_x_are_left_alone_at_the_root_only():
    assert parse_topology(f"{HEAD}teams: {{}}\nx-anything: [1, {{a: b}}]\n").topology.name == "t"
    (finding,) = findings_of(f"{HEAD}teams: {{}}\nqueue: {{x-anything: 1}}\n")
    assert finding.id == "QM002"
