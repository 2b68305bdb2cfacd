import pytest
from pydantic import ValidationError

from policy_engine.topology import UNLIMITED, QuotaShare, ResourceSharingStrategy, Topology

CAPACITY = {"ml.g5.xlarge": 3}


def share(**fields: object) -> QuotaShare:
    return QuotaShare.model_validate({"capacity": CAPACITY, "strategy": "LEND_AND_BORROW"} | fields)


@pytest.mark.parametrize(
    ("strategy", "borrow_limit", "percent", "cap"),
    [
        ("RESERVE", None, 0, 0),
        ("LEND", None, 0, 0),
        ("LEND_AND_BORROW", None, UNLIMITED, None),
        ("LEND_AND_BORROW", -1, UNLIMITED, None),
        ("LEND_AND_BORROW", 0, 0, 0),
        ("LEND_AND_BORROW", 33, 33, 0),
        ("LEND_AND_BORROW", 50, 50, 1),
        ("LEND_AND_BORROW", 200, 200, 6),
    ],
)
def test_a_borrow_limit_is_a_percentage_of_the_shares_own_limits_rounded_down(
    strategy: str, borrow_limit: int | None, percent: int, cap: int | None
):
    borrower = share(strategy=strategy, borrow_limit=borrow_limit)
    assert borrower.borrow_percent == percent
    assert borrower.borrow_cap("ml.g5.xlarge") == cap


def test_a_share_borrows_nothing_of_a_unit_that_it_has_no_limit_for():
    assert share().borrow_cap("ml.p5.48xlarge") == 0


def test_strategies_say_who_lends_and_who_borrows():
    assert [(strategy.lends, strategy.borrows) for strategy in ResourceSharingStrategy] == [
        (False, False),
        (True, False),
        (True, True),
    ]


def topology(**fields: object) -> Topology:
    teams = {
        "a": {"shares": {"a1": {"capacity": {"ml.g5.xlarge": 1}, "strategy": "LEND"}}},
        "b": {"shares": {"b1": {"capacity": {"ml.p5.48xlarge": 1}, "strategy": "RESERVE"}}},
    }
    return Topology.model_validate({"name": "t", "capacity": {"ml.g5.2xlarge": 1}, "teams": teams} | fields)


def test_shares_and_units_stand_in_declaration_order():
    assert [(owned.team, owned.name) for owned in topology().quota_shares()] == [("a", "a1"), ("b", "b1")]
    assert topology().units() == ("ml.g5.2xlarge", "ml.g5.xlarge", "ml.p5.48xlarge")


def test_resources_are_named_after_the_topology():
    names = (topology().scheduling_policy_name, topology().service_environment_name, topology().queue_name)
    assert names == ("t-scheduling-policy", "t-service-environment", "t-queue")


def test_a_topology_cannot_be_changed():
    with pytest.raises(ValidationError, match="frozen"):
        topology().name = "u"  # type: ignore[misc]


@pytest.mark.parametrize("value", [1, "yes", "true", 0])
def test_a_flag_is_true_or_false_in_python_too(value: object):
    with pytest.raises(ValidationError, match="in_share_preemption"):
        share(in_share_preemption=value)


@pytest.mark.parametrize("value", [1.0, "1", True, 2**31, -(2**31) - 1])
def test_a_quantity_is_a_32_bit_integer_in_python_too(value: object):
    with pytest.raises(ValidationError, match=r"ml\.g5\.xlarge"):
        share(capacity={"ml.g5.xlarge": value})


def test_expectations_of_nothing_are_refused_in_python_too_all_at_once():
    with pytest.raises(ValidationError) as caught:
        topology(expectations={"x": {}, "a1": {}, "b": {}, "queue": {}, "y": {}})
    assert [(error["loc"], error["msg"]) for error in caught.value.errors()] == [
        (("expectations", "x"), "no share and no team has the name 'x'"),
        (("expectations", "y"), "no share and no team has the name 'y'"),
    ]
