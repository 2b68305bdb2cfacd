from policy_engine.diagnostics import Position
from policy_engine.topology import SourceMap, parse_topology
from policy_engine.topology.source import Path

TEXT = """\
name: t
capacity:
  ml.g5.xlarge: 2
"teams":
  a:
    submitters:
      - "arn:aws:iam::111122223333:role/a"
      - arn:aws:iam::111122223333:role/b
    shares:
      s: {capacity: {ml.g5.xlarge: 1}, strategy: LEND}
"""
SOURCES = parse_topology(TEXT, "t.yaml").sources
SHARE: Path = ("teams", "a", "shares", "s")


def marked(position: Position | None) -> str:
    """The line number and the text that a position marks."""
    assert position is not None
    assert position.file == "t.yaml"
    assert position.text == TEXT.splitlines()[position.line - 1]
    return f"{position.line} {position.text[position.column - 1 :][: position.length]}"


def test_a_scalar_is_found_at_its_value():
    assert marked(SOURCES.position(("name",))) == "1 t"
    assert marked(SOURCES.position((*SHARE, "strategy"))) == "10 LEND"
    assert marked(SOURCES.position(("teams", "a", "submitters", 0))) == '7 "arn:aws:iam::111122223333:role/a"'


def test_a_mapping_or_list_is_found_at_its_key():
    assert marked(SOURCES.position(("capacity",))) == "2 capacity"
    assert marked(SOURCES.position(("teams",))) == '4 "teams"'
    assert marked(SOURCES.position(("teams", "a", "submitters"))) == "6 submitters"


def test_key_and_value_can_be_asked_for():
    assert marked(SOURCES.key_position(("name",))) == "1 name"
    assert marked(SOURCES.key_position(("capacity", "ml.g5.xlarge"))) == "3 ml.g5.xlarge"
    assert marked(SOURCES.value_position(("capacity", "ml.g5.xlarge"))) == "3 2"
    assert marked(SOURCES.value_position(SHARE)) == "10 {"


def test_what_the_file_does_not_have_is_found_at_the_nearest_parent():
    assert marked(SOURCES.position((*SHARE, "borrow_limit"))) == "10 s"
    assert marked(SOURCES.key_position((*SHARE, "borrow_limit"))) == "10 s"
    assert marked(SOURCES.value_position((*SHARE, "tags", "x"))) == "10 s"
    assert marked(SOURCES.position(("teams", "a", "submitters", 7))) == "6 submitters"
    assert marked(SOURCES.position(("queue", "priority"))) == "1 n"


def test_without_a_source_nothing_has_a_position():
    assert SourceMap().position(("name",)) is None
    assert SourceMap().key_position(()) is None
    assert SourceMap().value_position(SHARE) is None
