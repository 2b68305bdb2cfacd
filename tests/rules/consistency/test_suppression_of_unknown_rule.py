import pytest
from topology_fragments import findings_of, found

RULE = "QM211"


def of(rule: str) -> dict[str, object]:
    return {"suppressions": [{"rule": rule, "reason": "known"}]}


@pytest.mark.parametrize("rule", ["QM301", "QM101", "QM211"])
def test_rules_that_exist_are_allowed(rule: str):
    assert found(RULE, of(rule)) == []


@pytest.mark.parametrize(
    ("rule", "mend"),
    [
        ("QM3001", "did you mean 'QM301'?"),
        ("qm301", "did you mean 'QM301'?"),
        ("StrandedCapacity", "`batch-quota rules` lists the rules"),
    ],
)
def test_others_are_reported_with_what_was_meant_and_as_nothing_else(rule: str, mend: str):
    (finding,) = findings_of(RULE, of(rule))
    assert finding.path == ("suppressions", 0, "rule")
    assert finding.message == f"there is no rule {rule!r}, so this suppresses nothing"
    assert finding.help == mend
    assert found("QM213", of(rule)) == []
