import pytest
from topology_fragments import found, share

RULE = "QM116"


@pytest.mark.parametrize("value", ["", "v" * 256, "4711", "my aws: value"])
def test_up_to_256_characters_are_allowed(value: str):
    assert found(RULE, {"queue": {"tags": {"owner": value}}}) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("v" * 257, "the value of tag 'owner' of the queue has 257 characters; AWS allows 256"),
        ("aws:x", "the value of tag 'owner' of the queue starts with aws:, which AWS keeps for itself"),
        ("AWS:x", "the value of tag 'owner' of the queue starts with aws:, which AWS keeps for itself"),
    ],
)
def test_others_are_reported_at_the_value(value: str, message: str):
    assert found(RULE, {"queue": {"tags": {"owner": value}}}) == [(("queue", "tags", "owner"), message)]


def test_the_name_of_a_team_with_shares_is_a_value():
    message = (
        "the name of team 'aws:search', the value of tag batch-quota:team, starts with aws:, which AWS keeps for itself"
    )
    fragment = {"teams": {"aws:search": {"shares": {"prod": share("RESERVE")}}, "aws:idle": {"shares": {}}}}
    assert found(RULE, fragment) == [(("teams", "aws:search"), message)]
