import pytest
from topology_fragments import findings_of, found

RULE = "QM216"


def of(starts: str, ends: str) -> dict[str, object]:
    arn = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/spring"
    return {"capacity": {"ml.p5.48xlarge": {"count": 4, "training_plan": arn, "from": starts, "until": ends}}}


@pytest.mark.parametrize("ends", ["2026-03-02T12:00:01Z", "2026-03-02T05:00:01-07:00", "2027-01-01T00:00:00Z"])
def test_an_end_more_than_half_an_hour_after_the_start_is_allowed(ends: str):
    assert found(RULE, of("2026-03-02T11:30:00Z", ends)) == []


@pytest.mark.parametrize("ends", ["2026-03-02T12:00:00Z", "2026-03-02T11:30:00Z", "2026-03-01T11:30:00Z"])
def test_an_end_that_leaves_no_time_is_reported(ends: str):
    (finding,) = findings_of(RULE, of("2026-03-02T11:30:00Z", ends))
    assert finding.path == ("capacity", "ml.p5.48xlarge", "until")
    assert finding.message.endswith("30 minutes before its end, and start at 2026-03-02T11:30:00Z")
