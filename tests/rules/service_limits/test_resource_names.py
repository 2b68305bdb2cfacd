import pytest
from topology_fragments import findings_of, found

RULE = "QM104"


@pytest.mark.parametrize("name", ["ml-training", "ML_Training-2", "x", "0", "a" * 108])
def test_letters_digits_hyphens_and_underscores_are_allowed(name: str):
    assert found(RULE, {"name": name}) == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the topology's name is empty"),
        ("ml training", "'ml training' has characters that AWS refuses in names of resources"),
        ("über", "'über' has characters that AWS refuses in names of resources"),
        ("a/b", "'a/b' has characters that AWS refuses in names of resources"),
        ("ml\n", r"'ml\n' has characters that AWS refuses in names of resources"),
        ("٣", "'٣' has characters that AWS refuses in names of resources"),
    ],
)
def test_other_characters_and_no_name_are_reported(name: str, message: str):
    assert found(RULE, {"name": name}) == [(("name",), message)]


def test_the_longest_of_the_derived_names_counts():
    (finding,) = findings_of(RULE, {"name": "a" * 109})
    assert finding.message.endswith("is 129 characters long; AWS allows 128")
    assert finding.help == "shorten the topology's name to 108 characters"


def test_characters_and_length_are_reported_together():
    assert len(found(RULE, {"name": "a b" * 50})) == 2


@pytest.mark.parametrize(
    ("name", "mend"),
    [("ML training (EU)", "use letters, digits, '-' and '_' only, as in ML-training-EU"), ("日本", None)],
)
def test_a_name_is_suggested_if_something_of_the_old_one_is_left(name: str, mend: str | None):
    (finding,) = findings_of(RULE, {"name": name})
    assert finding.help == (mend or "use letters, digits, '-' and '_' only")
