import pytest
from topology_fragments import findings_of, found

RULE = "QM112"


def of(*reasons: str) -> dict[str, object]:
    return {"queue": {"time_limits": [{"reason": reason, "after": "1h"} for reason in reasons]}}


def test_the_three_reasons_of_aws_are_allowed():
    known = of(
        "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY",
        "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE",
        "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
    )
    assert found(RULE, known) == []


@pytest.mark.parametrize(
    ("reason", "mend"),
    [
        ("QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "did you mean 'MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED'?"),
        ("capacity:insufficient_instance_capacity", "did you mean 'CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY'?"),
        (
            "stuck",
            "known: CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY, MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE, "
            "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
        ),
    ],
)
def test_others_are_reported_with_what_was_meant(reason: str, mend: str):
    (finding,) = findings_of(RULE, of("CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", reason))
    assert finding.path == ("queue", "time_limits", 1, "reason")
    assert finding.message == f"AWS knows no reason {reason!r}"
    assert finding.help == mend
