import pytest
from topology_fragments import G5, P5, findings_of, found, share

RULE = "QM212"


def of(place: str | None) -> dict[str, object]:
    teams = {"search": {"shares": {"search-prod": share("RESERVE")}}}
    return {"teams": teams, "suppressions": [{"rule": "QM313", "at": place, "reason": "known"}]}


@pytest.mark.parametrize("place", [None, "search", "search-prod", G5])
def test_teams_shares_and_instance_types_are_allowed(place: str | None):
    assert found(RULE, of(place)) == []


@pytest.mark.parametrize(
    ("place", "mend"),
    [
        ("search_prod", "did you mean 'search-prod'?"),
        (P5, f"did you mean '{G5}'?"),
        ("", "leave `at` out to suppress the rule everywhere"),
    ],
)
def test_others_are_reported_with_what_was_meant_and_as_nothing_else(place: str, mend: str):
    (finding,) = findings_of(RULE, of(place))
    assert finding.path == ("suppressions", 0, "at")
    assert finding.message == (
        f"the topology has no team, share or instance type {place!r}, so this suppresses nothing"
    )
    assert finding.help == mend
    assert found("QM213", of(place)) == []
