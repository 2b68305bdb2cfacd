import pytest
from topology_fragments import G5, P5, findings_of, found, share, shares

RULE = "QM210"


@pytest.mark.parametrize("latency", ["3m", {"default": "3m"}, {"default": 0, G5: "1m"}, {P5: "1m"}])
@pytest.mark.parametrize("table", ["startup_seconds", "provision_seconds"])
def test_the_default_and_types_of_the_environment_or_of_shares_are_allowed(table: str, latency: object):
    fragment = {"capacity": {G5: 4}, "assumptions": {table: latency}}
    assert found(RULE, fragment | shares(large=share("RESERVE", 1, P5))) == []


@pytest.mark.parametrize(
    ("unit", "mend"),
    [
        ("ml.g5.xlrage", "did you mean 'ml.g5.xlarge'?"),
        ("defualt", "did you mean 'default'?"),
        ("everything", "remove the entry"),
    ],
)
@pytest.mark.parametrize("table", ["startup_seconds", "provision_seconds"])
def test_others_are_reported_at_the_type(table: str, unit: str, mend: str):
    (finding,) = findings_of(RULE, {"capacity": {G5: 4}, "assumptions": {table: {unit: "1m"}}})
    assert finding.path == ("assumptions", table, unit)
    assert finding.message == f"{table} has an entry for {unit!r}, which no capacity of the topology names"
    assert finding.help == mend
