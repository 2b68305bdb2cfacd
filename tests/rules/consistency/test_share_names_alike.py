import pytest
from topology_fragments import found, share

RULE = "QM206"


def of(*names: str) -> dict[str, object]:
    return {"teams": {f"team-{index}": {"shares": {name: share("RESERVE")}} for index, name in enumerate(names)}}


@pytest.mark.parametrize("names", [("search", "vision"), ("search-1", "search-2"), ("search", "search-"), ("a", "a")])
def test_names_that_differ_in_more_are_allowed_and_equal_ones_are_another_rules(names: tuple[str, str]):
    assert found(RULE, of(*names)) == []


@pytest.mark.parametrize("names", [("search", "Search"), ("search-prod", "search_prod"), ("a-B", "A_b")])
def test_names_that_look_alike_are_reported_at_the_second(names: tuple[str, str]):
    message = f"the name of share {names[1]!r} is easily taken for that of {names[0]!r}"
    assert found(RULE, of(*names)) == [(("teams", "team-1", "shares", names[1]), message)]
