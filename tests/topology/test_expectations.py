import math
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from policy_engine.topology import Comparison, Expectation, Expectations, Metric, Unit
from policy_engine.topology.expectations import parse_expectation


@pytest.mark.parametrize(
    ("metric", "written", "comparison", "value", "unit"),
    [
        ("wait_p95", "5m", "<=", 300_000, "ms"),
        ("wait_p95", 300, "<=", 300_000, "ms"),
        ("wait_max", "< 1h30m", "<", 5_400_000, "ms"),
        ("wait_p50", "<=5m", "<=", 300_000, "ms"),
        ("preemptions", 0, "<=", 0, "count"),
        ("preemptions", "<= 3", "<=", 3, "count"),
        ("preemptions_per_day", 0.5, "<=", 0.5, "count"),
        ("never_ran", "0", "<=", 0, "count"),
        ("lost_instance_hours", "<= 20", "<=", 20, "instance-hours"),
        ("lost_instance_hours_per_day", 2.5, "<=", 2.5, "instance-hours"),
        ("utilization", ">= 60%", ">=", 60, "%"),
        ("utilization", "  >  62.5 % ", ">", 62.5, "%"),
        ("goodput", "<= 100%", "<=", 100, "%"),
        ("preemption_rate", "<= 5%", "<=", 5, "%"),
        ("cost", 500, "<=", 500, "money"),
        ("wasted_cost_per_day", "< 12.50", "<", 12.5, "money"),
    ],
)
def test_a_bound_is_read(metric: str, written: object, comparison: str, value: float, unit: str):
    expectation = parse_expectation(Metric(metric), written)
    assert expectation == Expectation(Metric(metric), Comparison(comparison), value)
    assert expectation.unit == unit


@pytest.mark.parametrize(
    ("metric", "written", "comparison", "factor", "value"),
    [
        ("wait_p95", "<= baseline", "<=", 1, 0),
        ("wait_p95", "baseline * 1.1", "<=", 1.1, 0),
        ("wait_p95", "< baseline*2+5m", "<", 2, 300_000),
        ("wait_p95", "<= baseline - 30s", "<=", 1, -30_000),
        ("utilization", ">= baseline - 2.5%", ">=", 1, -2.5),
        ("preemptions", "<= baseline + 3", "<=", 1, 3),
        ("cost", "<= baseline * 0.9 + 10", "<=", 0.9, 10),
    ],
)
def test_a_bound_can_be_relative_to_a_baseline(metric: str, written: str, comparison: str, factor: float, value: float):
    expectation = parse_expectation(Metric(metric), written)
    assert expectation == Expectation(Metric(metric), Comparison(comparison), value, factor)
    assert expectation.relative
    assert parse_expectation(Metric(metric), expectation.bound) == expectation


@pytest.mark.parametrize(
    ("metric", "written", "expected"),
    [
        (
            "wait_p95",
            "<= baseline * ",
            "expected a bound such as '<= baseline', '<= baseline * 1.1' or '<= baseline + 1m'",
        ),
        ("wait_p95", "<= baseline / 2", "expected a bound such as '<= baseline'"),
        ("wait_p95", "<= baseline + 5", "expected a duration such as 90s"),
        ("wait_p95", "<= baselines", "expected a bound such as '<= baseline'"),
        ("wait_p95", "<= baseline * 0", "expected a factor above 0"),
        ("wait_p95", "<= 1.1 * baseline", "expected a duration"),
        ("utilization", "baseline", "say with '>=' or '<='"),
        ("utilization", ">= baseline - 5", "expected a bound such as '>= baseline', '>= baseline * 1.1' or"),
        ("preemptions", "<= baseline * 1e3", "expected a bound such as '<= baseline'"),
    ],
)
def test_a_malformed_relative_bound_says_what_is_expected(metric: str, written: str, expected: str):
    with pytest.raises(ValueError, match=re.escape(expected)):
        parse_expectation(Metric(metric), written)


@pytest.mark.parametrize(
    ("bound", "baseline", "met", "missed"),
    [
        ("<= baseline", 3, [3, 2], [4]),
        ("<= baseline * 1.1", 3, [3.3], [3.31]),
        (">= baseline * 1.1", 3, [3.3], [3.29]),
        ("<= baseline + 2", 0, [2], [3]),
        (">= baseline - 1", 3, [2], [1]),
        ("<= baseline * 1.5", math.inf, [5, math.inf], []),
        ("<= baseline", math.nan, [], [0]),
    ],
)
def test_a_relative_bound_holds_or_not(bound: str, baseline: float, met: list[float], missed: list[float]):
    expectation = parse_expectation(Metric.PREEMPTIONS, bound)
    assert all(expectation.holds(measured, baseline) for measured in met)
    assert not any(expectation.holds(measured, baseline) for measured in [*missed, math.nan])


def test_a_relative_bound_without_a_baseline_is_not_met():
    assert not parse_expectation(Metric.PREEMPTIONS, "<= baseline").holds(0)


@pytest.mark.parametrize(
    ("metric", "written", "expected"),
    [
        ("wait_p95", "soon", "expected a duration such as 90s"),
        ("wait_p95", "<= 300", "expected a duration such as 90s"),
        ("wait_p95", "== 5m", "expected a bound such as 5m or '<= 5m', not '== 5m'"),
        ("wait_p95", -1, "not negative"),
        ("wait_p95", True, "expected a bound"),
        ("wait_p95", "", "expected a bound"),
        ("preemptions", "-1", "expected a bound such as 0 or '<= 3', not '-1'"),
        ("preemptions", -1, "expected a bound"),
        ("preemptions", "5m", "expected a bound"),
        ("preemptions", "1e3", "expected a bound"),
        ("preemptions", math.nan, "expected a bound"),
        ("preemptions", [0], "expected a bound such as 0 or '<= 3', not a list"),
        ("utilization", "60%", "say with '>=' or '<=' which way it is meant"),
        ("utilization", ">= 60", "expected a bound such as '>= 60%', not '>= 60'"),
        ("utilization", ">= 0.6", "expected a bound such as '>= 60%'"),
        ("utilization", 60, "say with '>=' or '<='"),
        ("utilization", ">= ６０%", "expected a bound"),
        ("lost_instance_hours", "<= 20h", "expected a bound such as 20 or '<= 20', not '<= 20h'"),
        ("lost_instance_hours", "<= <= 20", "expected a bound"),
    ],
)
def test_a_malformed_bound_says_what_is_expected(metric: str, written: object, expected: str):
    with pytest.raises(ValueError, match=re.escape(expected)):
        parse_expectation(Metric(metric), written)


@pytest.mark.parametrize(
    ("bound", "met", "missed"),
    [
        ("< 3", [2.9, -1], [3, 4]),
        ("<= 3", [3, 0], [3.1]),
        ("> 3", [3.1], [3, 0]),
        (">= 3", [3, 4], [2.9]),
        ("3", [3], [4]),
    ],
)
def test_a_bound_holds_or_not(bound: str, met: list[float], missed: list[float]):
    expectation = parse_expectation(Metric.PREEMPTIONS, bound)
    assert all(expectation.holds(measured) for measured in met)
    assert not any(expectation.holds(measured) for measured in [*missed, math.nan])


@settings(deadline=None)
@given(st.sampled_from(Metric), st.sampled_from(Comparison), st.integers(0, 10**9), st.integers(0, 999))
def test_a_bound_is_read_back_as_it_is_written(metric: Metric, comparison: Comparison, whole: int, thousandths: int):
    fraction = thousandths and thousandths / 1000
    value = whole if metric.unit is Unit.MILLISECONDS else whole + fraction
    expectation = Expectation(metric, comparison, value)
    assert parse_expectation(metric, expectation.bound) == expectation


@settings(deadline=None)
@given(st.sampled_from(Metric), st.sampled_from(Comparison), st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_a_relative_bound_is_read_back_as_it_is_written(
    metric: Metric, comparison: Comparison, whole: int, thousandths: int
):
    expectation = Expectation(metric, comparison, whole, thousandths / 1000)
    assert parse_expectation(metric, expectation.bound) == expectation


def test_only_what_is_stated_is_expected():
    expectations = Expectations.model_validate({"wait_p95": "5m", "preemptions": 0, "goodput": None})
    assert [(entry.metric, entry.bound) for entry in expectations.stated()] == [
        (Metric.WAIT_P95, "<= 5m"),
        (Metric.PREEMPTIONS, "<= 0"),
    ]
    assert Expectations().stated() == ()


def test_every_metric_is_a_field_with_a_description():
    assert list(Expectations.model_fields) == [metric.value for metric in Metric]
    assert all(field.description for field in Expectations.model_fields.values())


def test_an_expectation_of_one_metric_is_none_of_another():
    wait = parse_expectation(Metric.WAIT_P50, "5m")
    assert Expectations(wait_p50=wait).stated() == (wait,)
    with pytest.raises(ValidationError, match="expected a bound on wait_p95, not on wait_p50"):
        Expectations(wait_p95=wait)
