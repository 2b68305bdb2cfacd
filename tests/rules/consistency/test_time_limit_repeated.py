from topology_fragments import TIME_LIMITS, found

RULE = "QM204"


def test_one_time_limit_a_reason_is_allowed():
    assert found(RULE, {"queue": {"time_limits": TIME_LIMITS}}) == []


def test_each_further_one_is_reported_with_both_durations():
    reason = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    repeated = [*TIME_LIMITS, {"reason": reason, "after": "2h"}, {"reason": reason, "after": "1h"}]
    assert found(RULE, {"queue": {"time_limits": repeated}}) == [
        (("queue", "time_limits", 2, "reason"), f"'{reason}' has a time limit of 1h already, and another of 2h here"),
        (("queue", "time_limits", 3, "reason"), f"'{reason}' has a time limit of 1h already, and another of 1h here"),
    ]
