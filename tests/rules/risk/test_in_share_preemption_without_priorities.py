import pytest
from topology_fragments import found, share, share_path, shares

RULE = "QM312"


@pytest.mark.parametrize(("preemption", "priority"), [(True, None), (True, 1), (False, 0), (False, None)])
def test_priorities_to_choose_from_or_no_in_share_preemption_are_allowed(preemption: bool, priority: int | None):  # noqa: FBT001
    fragment = shares(production=share("RESERVE", in_share_preemption=preemption, max_priority=priority))
    assert found(RULE, fragment) == []


def test_in_share_preemption_among_jobs_of_priority_0_is_reported():
    fragment = shares(production=share("RESERVE", in_share_preemption=True, max_priority=0))
    message = (
        "share 'production' has in-share preemption, but max_priority 0: "
        "none of its jobs outranks another, so none is preempted for one"
    )
    assert found(RULE, fragment) == [(share_path("production", "max_priority"), message)]
