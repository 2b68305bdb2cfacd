"""Positions, order and suppressions of findings; and that no topology whatever breaks a rule."""

from io import StringIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from topologies import topologies
from topology_fragments import G5, P5, complete, share, shares, topology_of

from policy_engine.diagnostics import Finding, Severity
from policy_engine.rules import SuppressionRule, check, registry
from policy_engine.topology import SourceMap, Suppression, Topology, parse_topology

many = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)

DOCUMENT = """\
name: ml training
capacity:
  ml.g5.xlarge: 16
  ml.p5.48xlarge: 4
queue: {priority: 1001}
teams:
  search:
    submitters:
      - arn:aws:iam::111122223333:group/search
    shares:
      search-prod:
        capacity: {ml.g5.xlarge: 8, ml.p5.48xlarg: 1}
        strategy: LEND
        borrow_limit: 50
  vision:
    submitters: ["arn:aws:iam::111122223333:role/vision"]
    shares:
      vision-prod: {capacity: {ml.p5.48xlarge: 4}, strategy: RESERVE, largest_job: {ml.p5.48xlarge: 6}}
suppressions:
  - {rule: QM999, reason: x}
"""


def test_findings_stand_in_the_order_of_the_file_each_at_the_word_it_is_about():
    document = parse_topology(DOCUMENT, "topology.yaml")
    shown = []
    for finding in check(document.topology, document.sources):
        assert finding.position is not None
        place = finding.position
        assert place.file == "topology.yaml"
        shown.append((finding.id, place.line, place.text[place.column - 1 : place.column - 1 + place.length]))
    assert shown == [
        ("QM104", 1, "ml training"),
        ("QM301", 3, "16"),
        ("QM311", 5, "queue"),
        ("QM110", 5, "1001"),
        ("QM118", 9, "arn:aws:iam::111122223333:group/search"),
        ("QM108", 12, "ml.p5.48xlarg"),
        ("QM305", 13, "LEND"),
        ("QM203", 14, "50"),
        ("QM309", 18, "6"),
        ("QM211", 20, "QM999"),
    ]


def test_a_topology_made_in_python_has_findings_with_paths_in_the_order_of_their_ids():
    topology = parse_topology(DOCUMENT).topology
    findings = check(topology)
    assert [finding.id for finding in findings] == sorted(finding.id for finding in findings)
    assert {finding.position for finding in findings} == {None}
    assert ("teams", "search", "shares", "search-prod", "borrow_limit") in {finding.path for finding in findings}
    assert check(topology, SourceMap()) == findings


MIXED = {"capacity": {G5: 4, P5: 2}}
TWO_TEAMS = {
    "capacity": {G5: 12, P5: 4},
    "teams": {
        "search": {"shares": {"search-a": MIXED, "search-b": MIXED}},
        "vision": {"shares": {"vision-a": share("RESERVE", 2)}},
    },
}


@pytest.mark.parametrize(
    ("suppression", "left"),
    [
        ({"rule": "QM313"}, {("QM301", G5)}),
        ({"rule": "QM313", "at": "search"}, {("QM301", G5)}),
        ({"rule": "QM313", "at": "search-b"}, {("QM301", G5), ("QM313", "search-a")}),
        ({"rule": "QM301"}, {("QM313", "search-a"), ("QM313", "search-b")}),
        ({"rule": "QM301", "at": G5}, {("QM313", "search-a"), ("QM313", "search-b")}),
    ],
    ids=["everywhere", "at a team", "at a share", "of another rule", "at an instance type"],
)
def test_a_suppression_accepts_one_rule_where_it_says(suppression: dict[str, str], left: set[tuple[str, str]]):
    findings = check(topology_of(TWO_TEAMS | {"suppressions": [suppression | {"reason": "known"}]}))
    assert {(finding.id, finding.path[3] if finding.id == "QM313" else finding.path[1]) for finding in findings} == left


def test_a_suppression_at_a_team_does_not_accept_what_is_found_elsewhere():
    fragment = TWO_TEAMS | {"suppressions": [{"rule": "QM301", "at": "search", "reason": "known"}]}
    assert {"QM301", "QM213"} <= {finding.id for finding in check(topology_of(fragment))}


def test_an_error_is_reported_whatever_is_suppressed():
    suppressions = [{"rule": "QM203", "reason": "known"}]
    fragment = shares(production=share("RESERVE", borrow_limit=5)) | {"suppressions": suppressions}
    assert [finding.id for finding in check(topology_of(fragment))] == ["QM203", "QM213"]


@many
@given(topologies())
def test_no_topology_breaks_a_rule_and_every_finding_is_complete(topology: Topology):
    findings = check(topology)
    assert check(topology) == findings
    for finding in findings:
        rule = registry()[finding.id]
        assert finding.severity is rule.severity
        assert finding.message
        assert finding.help
        assert not finding.message.endswith("\n")
        assert leads_somewhere(finding, topology)


@many
@given(topologies())
def test_all_warnings_and_infos_can_be_accepted_and_nothing_but_them(topology: Topology):
    before = check(topology.model_copy(update={"suppressions": ()}))
    accepted = {finding.id for finding in before if finding.severity is not Severity.ERROR}
    suppressions = tuple(Suppression(rule=rule_id, reason="known") for rule_id in sorted(accepted))
    after = check(topology.model_copy(update={"suppressions": suppressions}))
    assert after == [finding for finding in before if finding.severity is Severity.ERROR]


@many
@given(topologies(), st.data())
def test_a_suppression_at_a_place_accepts_no_more_than_one_everywhere(topology: Topology, data: st.DataObject):
    rule_id = data.draw(st.sampled_from(sorted(registry())))
    place = data.draw(st.sampled_from([*topology.teams, *(owned.name for owned in topology.quota_shares()), G5]))

    def left(at: str | None) -> set[tuple[str, str]]:
        suppressed = topology.model_copy(update={"suppressions": (Suppression(rule=rule_id, at=at, reason="x"),)})
        return {
            (finding.id, finding.message)
            for finding in check(suppressed)
            if not isinstance(registry()[finding.id], SuppressionRule)
        }

    assert left(None) <= left(place)


def test_every_finding_in_a_file_has_a_position():
    document = parse_topology(as_yaml(complete(TWO_TEAMS)))
    findings = check(document.topology, document.sources)
    assert findings
    assert all(finding.position for finding in findings)


def as_yaml(data: object) -> str:
    stream = StringIO()
    YAML(typ="safe", pure=True).dump(data, stream)
    return stream.getvalue()


def leads_somewhere(finding: Finding, topology: Topology) -> bool:
    """Whether a finding's path is one of the topology, defaults included."""
    value: object = topology.model_dump()
    for step in finding.path:
        known = value if isinstance(value, dict) else dict(enumerate(value)) if isinstance(value, tuple) else {}
        if step not in known:
            return False
        value = known[step]
    return True
