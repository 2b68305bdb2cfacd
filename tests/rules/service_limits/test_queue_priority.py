import pytest
from topology_fragments import found

RULE = "QM110"


@pytest.mark.parametrize("priority", [0, 1, 1000])
def test_0_to_1000_is_allowed(priority: int):
    assert found(RULE, {"queue": {"priority": priority}}) == []


@pytest.mark.parametrize("priority", [-1, 1001])
def test_others_are_reported(priority: int):
    message = f"the queue has priority {priority}; AWS expects 0 to 1000"
    assert found(RULE, {"queue": {"priority": priority}}) == [(("queue", "priority"), message)]
