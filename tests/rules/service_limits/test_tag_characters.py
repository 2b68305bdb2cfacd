import pytest
from topology_fragments import found, share

RULE = "QM117"


@pytest.mark.parametrize("text", ["a-B.9_:/@+=", "with spaces", "Größe", "日本語", ""])
def test_letters_digits_spaces_and_the_usual_signs_are_allowed(text: str):
    assert found(RULE, {"queue": {"tags": {"key": text, f"{text}!"[:-1] or "k": "value"}}}) == []


@pytest.mark.parametrize(
    ("text", "unusual"), [("search & ads", "'&'"), ("(a)(b)", "'()'"), ("a,b;c", "',;'"), ("tab\t", r"'\t'")]
)
def test_other_characters_are_reported_in_keys_and_values(text: str, unusual: str):
    assert found(RULE, {"queue": {"tags": {"key": text}}}) == [
        (
            ("queue", "tags", "key"),
            f"the value of tag 'key' of the queue has characters that AWS may refuse in tags: {unusual}",
        )
    ]
    assert found(RULE, {"queue": {"tags": {text: "value"}}}) == [
        (
            ("queue", "tags", text),
            f"the tag key {text!r} of the queue has characters that AWS may refuse in tags: {unusual}",
        )
    ]


def test_the_name_of_a_team_is_a_value():
    fragment = {"teams": {"R&D": {"shares": {"prod": share("RESERVE")}}}}
    message = (
        "the name of team 'R&D', the value of tag batch-quota:team, has characters that AWS may refuse in tags: '&'"
    )
    assert found(RULE, fragment) == [(("teams", "R&D"), message)]
