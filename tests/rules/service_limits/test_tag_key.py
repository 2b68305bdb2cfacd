import pytest
from topology_fragments import found, share

RULE = "QM115"


@pytest.mark.parametrize("key", ["owner", "k" * 128, "cost-center", "my:aws:tag", "awsome", "schlüssel"])
def test_up_to_128_characters_are_allowed(key: str):
    assert found(RULE, {"queue": {"tags": {key: "x"}}}) == []


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("", "the queue has a tag key of 0 characters; AWS expects 1 to 128"),
        ("k" * 129, "the queue has a tag key of 129 characters; AWS expects 1 to 128"),
        ("aws:owner", "the queue has a tag 'aws:owner'; AWS keeps keys that start with aws: for itself"),
        ("AwS:x", "the queue has a tag 'AwS:x'; AWS keeps keys that start with aws: for itself"),
    ],
)
def test_others_are_reported_at_the_key(key: str, message: str):
    assert found(RULE, {"queue": {"tags": {key: "x"}}}) == [(("queue", "tags", key), message)]


def test_tags_of_teams_and_shares_are_looked_at_too():
    shares = {"prod": share("RESERVE", tags={"aws:b": "x"})}
    fragment = {"teams": {"search": {"tags": {"aws:a": "x"}, "shares": shares}}}
    assert [path for path, _ in found(RULE, fragment)] == [
        ("teams", "search", "tags", "aws:a"),
        ("teams", "search", "shares", "prod", "tags", "aws:b"),
    ]
