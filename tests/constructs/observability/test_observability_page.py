"""docs/observability.md says what the constructs make."""

import re
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk.assertions import Template

from batch_quota import QuotaManagedQueue, Topology
from batch_quota.observability.share_metrics_handler import handler
from policy_engine.topology import read_topology

CHECKOUT = Path(__file__).parents[3]
PAGE = (CHECKOUT / "docs" / "observability.md").read_text(encoding="utf-8")
EXAMPLE = (CHECKOUT / "examples" / "cdk" / "observability.py").read_text(encoding="utf-8")
UNITS = {"%": 1.0, "hours": 3600.0, "": 1.0}


@pytest.fixture
def alarms(stack: Stack) -> dict[str, dict[str, Any]]:
    topology = read_topology(CHECKOUT / "examples" / "ml-training.yaml").topology
    QuotaManagedQueue(stack, "Quota", topology=topology)
    found = Template.from_stack(stack).find_resources("AWS::CloudWatch::Alarm").values()
    return {alarm["Properties"]["AlarmName"].removeprefix("ml-training-queue-"): alarm["Properties"] for alarm in found}


def test_the_table_has_every_alarm_with_its_threshold(alarms: dict[str, dict[str, Any]]):
    rows = re.findall(r"^\| `([a-z-]+)…?` \| ([\d.]+) ?([^ |]*) \| ([\d.]*) ?([^ |]*) ?\|", PAGE, re.MULTILINE)
    told = {}
    for kind, warning, warning_unit, critical, critical_unit in rows:
        for level, number, unit in (("warning", warning, warning_unit), ("critical", critical, critical_unit)):
            if number:
                told[kind, level] = float(number) * UNITS[unit]
    made = {
        (_kind(name), name.rpartition("-")[2]): alarm["Threshold"]
        / (1000 if alarm.get("MetricName", "").endswith("Duration") else 1)
        for name, alarm in alarms.items()
    }
    assert told == made
    assert f"{len(alarms)} CloudWatch alarms" in PAGE


@pytest.mark.parametrize(("shares", "types", "count"), [(7, 1, 29), (20, 5, 321)])
def test_the_number_of_custom_metrics_is_as_told(shares: int, types: int, count: int):
    limits = {f"ml.g5.{number}xlarge": 1.0 for number in range(types)}
    made = [
        handler.Share(name=f"share-{number}", strategy="LEND", limits=limits, usage={}, at_front_since=None)
        for number in range(shares)
    ]
    measurements = [*handler.capacity(made, "queue"), *handler.waiting(made, "queue", now=0)]
    metrics = {
        (name, *(measurement.dimensions[dimension] for dimension in dimensions))
        for measurement in measurements
        for name in measurement.values
        for dimensions in measurement.published_by
    }
    assert len(metrics) == count
    assert str(count) in PAGE


def test_the_example_topology_is_the_one_that_the_count_is_of():
    topology: Topology = read_topology(CHECKOUT / "examples" / "ml-training.yaml").topology
    assert [len(owned.share.capacity) for owned in topology.quota_shares()] == [1] * 7


def test_the_published_metrics_are_those_of_the_table():
    rows = re.findall(r"^\| `([A-Za-z]+)` \| (instances|seconds) \|", PAGE, re.MULTILINE)
    assert dict(rows) == {
        name: {"Count": "instances", "Seconds": "seconds"}[unit] for name, unit in handler.UNITS.items()
    }


def test_the_program_on_the_page_is_the_example():
    (program,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert program in EXAMPLE


def _kind(name: str) -> str:
    kind = name.rpartition("-")[0]
    return "undelivered-" if kind.startswith("undelivered-") else kind
