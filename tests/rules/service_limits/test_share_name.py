import pytest
from topology_fragments import found, share

RULE = "QM105"


def of(name: str) -> dict[str, object]:
    return {"teams": {"any name: of a team!": {"shares": {name: share("RESERVE")}}}}


@pytest.mark.parametrize("name", ["search-prod", "QS1", "a_b", "7", "a" * 128])
def test_up_to_128_letters_digits_hyphens_and_underscores_are_allowed(name: str):
    assert found(RULE, of(name)) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the name of this share is empty"),
        ("search prod", "the name of share 'search prod' has characters that AWS refuses"),
        ("search.prod", "the name of share 'search.prod' has characters that AWS refuses"),
        ("prüfung", "the name of share 'prüfung' has characters that AWS refuses"),
        ("a" * 129, f"the name of share '{'a' * 60}…' is 129 characters long; AWS allows 128"),
    ],
)
def test_other_names_are_reported_at_the_name(name: str, message: str):
    assert found(RULE, of(name)) == [(("teams", "any name: of a team!", "shares", name), message)]
