import pytest
from topology_fragments import G5, findings_of, found, share, shares

RULE = "QM213"


def of(rule: str, place: str | None = None) -> dict[str, object]:
    """Four of eight instances are in no share's limit: QM301."""
    allocated = {"capacity": {G5: 8}} | shares(production=share("RESERVE", 4))
    return allocated | {"suppressions": [{"rule": rule, "at": place, "reason": "known"}]}


@pytest.mark.parametrize("place", [None, G5])
def test_a_suppression_that_accepts_something_is_allowed(place: str | None):
    assert found(RULE, of("QM301", place)) == []
    assert found("QM301", of("QM301", place)) == []


@pytest.mark.parametrize(
    ("rule", "place", "message", "mend"),
    [
        ("QM313", None, "QM313 finds nothing, so this suppresses nothing", "remove the suppression"),
        (
            "QM301",
            "production",
            "QM301 finds nothing at 'production', so this suppresses nothing",
            "remove the suppression",
        ),
        (
            "QM101",
            None,
            "QM101 is an error, which cannot be suppressed",
            "mend what QM101 finds, and remove the suppression",
        ),
        (
            "QM213",
            None,
            "QM213 is a finding about suppressions, which cannot be suppressed",
            "mend what QM213 finds, and remove the suppression",
        ),
        (
            "QM407",
            None,
            "QM407 is about changes, which a topology cannot suppress",
            "remove the suppression, and accept a change with batch-quota diff --accept QM407",
        ),
    ],
)
def test_one_without_anything_to_accept_is_reported(rule: str, place: str | None, message: str, mend: str):
    (finding,) = findings_of(RULE, of(rule, place))
    assert (finding.path, finding.message, finding.help) == (("suppressions", 0, "rule"), message, mend)


def test_of_two_suppressions_of_one_finding_both_have_an_effect():
    fragment = of("QM301")
    fragment["suppressions"] = [{"rule": "QM301", "reason": "a"}, {"rule": "QM301", "at": G5, "reason": "b"}]
    assert found(RULE, fragment) == []
