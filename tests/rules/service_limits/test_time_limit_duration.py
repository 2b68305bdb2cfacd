import pytest
from topology_fragments import findings_of, found

RULE = "QM113"
PATH = ("queue", "time_limits", 0, "after")


def of(after: str) -> dict[str, object]:
    return {"queue": {"time_limits": [{"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "after": after}]}}


@pytest.mark.parametrize("after", ["10m", "600s", "1h30m", "24h", "86400s"])
def test_10_minutes_to_24_hours_are_allowed(after: str):
    assert found(RULE, of(after)) == []


@pytest.mark.parametrize(
    ("after", "message", "mend"),
    [
        ("0s", "a time limit of 0s; AWS expects 600 to 86400 seconds", "the nearest is 10m"),
        ("599s", "a time limit of 9m59s; AWS expects 600 to 86400 seconds", "the nearest is 10m"),
        ("599.999s", "a time limit of 9m59.999s; AWS expects 600 to 86400 seconds", "the nearest is 10m"),
        ("86400.001s", "a time limit of 1d0.001s; AWS expects 600 to 86400 seconds", "the nearest is 24h"),
        ("7d", "a time limit of 7d; AWS expects 600 to 86400 seconds", "the nearest is 24h"),
        ("600.5s", "a time limit of 10m0.5s; AWS expects whole seconds", "round it to whole seconds"),
    ],
)
def test_shorter_longer_and_broken_ones_are_reported(after: str, message: str, mend: str):
    (finding,) = findings_of(RULE, of(after))
    assert (finding.path, finding.message, finding.help) == (PATH, message, mend)
