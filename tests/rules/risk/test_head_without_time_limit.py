import pytest
from topology_fragments import TIME_LIMITS, findings_of, found

RULE = "QM311"
ENVIRONMENT, SHARE = (limit["reason"] for limit in TIME_LIMITS)
CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"


def of(*reasons: str) -> dict[str, object]:
    return {"queue": {"time_limits": [{"reason": reason, "after": "1h"} for reason in reasons]}}


@pytest.mark.parametrize("reasons", [(ENVIRONMENT, SHARE), (SHARE, CAPACITY, ENVIRONMENT)])
def test_time_limits_for_both_misconfigurations_are_allowed(reasons: tuple[str, ...]):
    assert found(RULE, of(*reasons)) == []


@pytest.mark.parametrize(
    ("reasons", "missing"),
    [
        ((), f"{ENVIRONMENT} and {SHARE}"),
        ((CAPACITY,), f"{ENVIRONMENT} and {SHARE}"),
        ((SHARE,), ENVIRONMENT),
        ((ENVIRONMENT,), SHARE),
    ],
)
def test_those_that_are_missing_are_reported_together(reasons: tuple[str, ...], missing: str):
    message = f"the queue has no time limit for {missing}: a job that can never run blocks its share without end"
    assert found(RULE, of(*reasons)) == [(("queue", "time_limits"), message)]


def test_the_help_can_be_pasted():
    (finding,) = findings_of(RULE, of(SHARE))
    assert finding.help == f'add {{reason: "{ENVIRONMENT}", after: 30m}} to the queue\'s time_limits'
