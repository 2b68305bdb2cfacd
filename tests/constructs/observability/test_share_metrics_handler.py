"""The file that Lambda runs. botocore's model of AWS Batch checks each request and each response."""

import ast
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from hypothesis import given
from hypothesis import strategies as st

from batch_quota.observability.share_metrics_handler import handler

Json = dict[str, Any]
Listed = tuple[str, str, dict[str, int]]

QUEUE = "arn:aws:batch:us-east-1:111122223333:job-queue/training-queue"
SMALL, LARGE = "ml.g5.xlarge", "ml.g5.48xlarge"
METRICS_OF_CAPACITY = ("CapacityUsage", "CapacityBorrowed", "CapacityLent")


@pytest.fixture
def stubber() -> Iterator[Stubber]:
    with Stubber(boto3.client("batch", region_name="us-east-1")) as stubber:
        yield stubber
        stubber.assert_no_pending_responses()


@pytest.fixture
def published(stubber: Stubber, capsys: pytest.CaptureFixture[str]) -> Callable[..., list[Json]]:
    """What is printed for a queue with some shares, some usage and some jobs at the front."""

    def publish(
        shares: Sequence[Listed], usage: dict[str, dict[str, float]], fronts: dict[str, list[int]] | None = None
    ) -> list[Json]:
        stubber.add_response("get_job_queue_snapshot", _snapshot(usage, fronts or {}), {"jobQueue": QUEUE})
        stubber.add_response("list_quota_shares", _page(shares), {"jobQueue": QUEUE})
        handler.publish(stubber.client, QUEUE, "BatchQuota")
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return publish


@pytest.mark.parametrize(
    ("shares", "usage", "expected"),
    [
        pytest.param(
            [("a", "LEND_AND_BORROW", {SMALL: 4}), ("b", "LEND", {SMALL: 4})],
            {"a": {SMALL: 6}, "b": {SMALL: 1}},
            {("a", SMALL): (6, 2, 0), ("b", SMALL): (1, 0, 2)},
            id="what one share borrows the only lender lends",
        ),
        pytest.param(
            [("a", "LEND_AND_BORROW", {SMALL: 2}), ("b", "LEND", {SMALL: 6}), ("c", "LEND_AND_BORROW", {SMALL: 2})],
            {"a": {SMALL: 6}},
            {("a", SMALL): (6, 4, 0), ("b", SMALL): (0, 0, 3), ("c", SMALL): (0, 0, 1)},
            id="several lenders lend in proportion to what they have idle",
        ),
        pytest.param(
            [("a", "LEND_AND_BORROW", {SMALL: 2}), ("b", "RESERVE", {SMALL: 6}), ("c", "LEND", {SMALL: 2})],
            {"a": {SMALL: 4}},
            {("a", SMALL): (4, 2, 0), ("b", SMALL): (0, 0, 0), ("c", SMALL): (0, 0, 2)},
            id="a share that reserves lends nothing",
        ),
        pytest.param(
            [("a", "RESERVE", {SMALL: 2}), ("b", "LEND", {SMALL: 2}), ("c", "LEND", {SMALL: 4})],
            {"a": {SMALL: 4}, "b": {SMALL: 3}},
            {("a", SMALL): (4, 0, 0), ("b", SMALL): (3, 0, 0), ("c", SMALL): (0, 0, 0)},
            id="a share that may not borrow and is above its lowered limit has borrowed nothing",
        ),
        pytest.param(
            [("a", "LEND_AND_BORROW", {SMALL: 2}), ("b", "LEND", {SMALL: 2})],
            {"a": {SMALL: 6}, "b": {SMALL: 1}},
            {("a", SMALL): (6, 4, 0), ("b", SMALL): (1, 0, 1)},
            id="nobody lends more than is idle, even if more is in use than all limits allow",
        ),
        pytest.param(
            [("a", "LEND_AND_BORROW", {SMALL: 2, LARGE: 2}), ("b", "LEND", {SMALL: 2, LARGE: 2})],
            {"a": {SMALL: 3, LARGE: 1}, "b": {LARGE: 2}},
            {
                ("a", LARGE): (1, 0, 0),
                ("a", SMALL): (3, 1, 0),
                ("b", LARGE): (2, 0, 0),
                ("b", SMALL): (0, 0, 1),
            },
            id="instance types do not stand in for each other",
        ),
        pytest.param(
            [("a", "LEND_AND_BORROW", {SMALL: 2}), ("b", "LEND", {LARGE: 2})],
            {"a": {LARGE: 1}},
            {("a", LARGE): (1, 1, 0), ("a", SMALL): (0, 0, 0), ("b", LARGE): (0, 0, 1)},
            id="a type without a limit is all borrowed",
        ),
        pytest.param(
            [("a", "LEND_AND_BORROW", {SMALL: 2}), ("b", "LEND_AND_BORROW", {SMALL: 2})],
            {},
            {("a", SMALL): (0, 0, 0), ("b", SMALL): (0, 0, 0)},
            id="a queue where nothing runs has zeros, not gaps",
        ),
    ],
)
def test_usage_is_split_into_own_borrowed_and_lent(
    published: Callable[..., list[Json]],
    shares: Sequence[Listed],
    usage: dict[str, dict[str, float]],
    expected: dict[tuple[str, str], tuple[float, float, float]],
):
    documents = [document for document in published(shares, usage) if "CapacityUnit" in document]
    assert {
        (document["QuotaShareName"], document["CapacityUnit"]): tuple(document[name] for name in METRICS_OF_CAPACITY)
        for document in documents
    } == expected


@given(
    st.lists(
        st.builds(
            handler.Share,
            name=st.text("abc", min_size=1),
            strategy=st.sampled_from(["RESERVE", "LEND", "LEND_AND_BORROW"]),
            limits=st.dictionaries(st.sampled_from([SMALL, LARGE]), st.integers(1, 50)),
            usage=st.dictionaries(st.sampled_from([SMALL, LARGE]), st.floats(0, 100)),
            at_front_since=st.none(),
        ),
        max_size=6,
    )
)
def test_all_that_is_borrowed_is_lent_by_somebody_as_far_as_there_is_anything_to_lend(shares: list[handler.Share]):
    measured = list(handler.capacity(shares, "training-queue"))
    for unit in (SMALL, LARGE):
        values = [m.values for m in measured if m.dimensions["CapacityUnit"] == unit]
        borrowed, lent = (sum(v[name] for v in values) for name in ("CapacityBorrowed", "CapacityLent"))
        idle = sum(share.lendable(unit) for share in shares)
        assert lent == pytest.approx(min(borrowed, idle))
        for share, measurement in zip(_with_unit(shares, unit), values, strict=True):
            assert 0 <= measurement["CapacityLent"] <= share.lendable(unit)
            assert measurement["CapacityBorrowed"] <= measurement["CapacityUsage"] == share.used(unit)


def test_the_age_of_the_job_at_the_front_is_published_by_share_and_by_queue(published: Callable[..., list[Json]]):
    now = time.time_ns() // 1_000_000
    shares = [(name, "RESERVE", {SMALL: 1}) for name in ("waiting", "empty", "absent")]
    documents = published(shares, {}, {"waiting": [now - 90_000], "empty": []})
    ages = {d["QuotaShareName"]: d for d in documents if "FrontJobAge" in d}
    assert ages["waiting"]["FrontJobAge"] == pytest.approx(90, abs=30)
    assert ages["empty"]["FrontJobAge"] == ages["absent"]["FrontJobAge"] == 0
    (directive,) = ages["waiting"]["_aws"]["CloudWatchMetrics"]
    assert directive["Dimensions"] == [["JobQueueName", "QuotaShareName"], ["JobQueueName"]]


def test_a_clock_that_is_behind_makes_no_negative_age():
    share = handler.Share(name="a", strategy="LEND", limits={}, usage={}, at_front_since=2_000)
    (measurement,) = handler.waiting([share], "training-queue", now=1_000)
    assert measurement.values == {"FrontJobAge": 0}


def test_each_line_is_a_document_of_the_embedded_metric_format(published: Callable[..., list[Json]]):
    before = time.time_ns() // 1_000_000
    documents = published([("a", "LEND", {SMALL: 4, LARGE: 1})], {"a": {SMALL: 1}})
    after = time.time_ns() // 1_000_000
    assert len(documents) == 3
    for document in documents:
        assert document["JobQueueName"] == "training-queue"
        assert before <= document["_aws"]["Timestamp"] <= after
        (directive,) = document["_aws"]["CloudWatchMetrics"]
        assert directive["Namespace"] == "BatchQuota"
        for name in (name for names in directive["Dimensions"] for name in names):
            assert isinstance(document[name], str)
        for metric in directive["Metrics"]:
            assert isinstance(document[metric["Name"]], int | float)
            assert metric["Unit"] in {"Count", "Seconds"}
        described = {
            "_aws",
            *(n for ns in directive["Dimensions"] for n in ns),
            *(m["Name"] for m in directive["Metrics"]),
        }
        assert document.keys() == described


def test_all_pages_of_shares_are_read(stubber: Stubber, capsys: pytest.CaptureFixture[str]):
    first, second = _page([("a", "LEND", {SMALL: 1})]), _page([("b", "LEND", {SMALL: 1})])
    stubber.add_response("get_job_queue_snapshot", _snapshot({}, {}), {"jobQueue": QUEUE})
    stubber.add_response("list_quota_shares", {**first, "nextToken": "more"}, {"jobQueue": QUEUE})
    stubber.add_response("list_quota_shares", second, {"jobQueue": QUEUE, "nextToken": "more"})
    handler.publish(stubber.client, QUEUE, "BatchQuota")
    assert {json.loads(line)["QuotaShareName"] for line in capsys.readouterr().out.splitlines()} == {"a", "b"}


@pytest.mark.parametrize("snapshot", [{}, {"frontOfQuotaShares": {}, "queueUtilization": {}}])
def test_a_snapshot_that_says_nothing_means_that_nothing_runs(
    stubber: Stubber, capsys: pytest.CaptureFixture[str], snapshot: Json
):
    stubber.add_response("get_job_queue_snapshot", snapshot, {"jobQueue": QUEUE})
    stubber.add_response("list_quota_shares", _page([("a", "LEND", {SMALL: 1})]), {"jobQueue": QUEUE})
    handler.publish(stubber.client, QUEUE, "BatchQuota")
    documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [document.get("CapacityUsage", document.get("FrontJobAge")) for document in documents] == [0, 0]


def test_a_call_that_fails_publishes_nothing_and_fails_the_run(stubber: Stubber, capsys: pytest.CaptureFixture[str]):
    stubber.add_response("get_job_queue_snapshot", _snapshot({}, {}), {"jobQueue": QUEUE})
    stubber.add_client_error("list_quota_shares", "AccessDeniedException")
    with pytest.raises(stubber.client.exceptions.ClientError, match="AccessDenied"):
        handler.publish(stubber.client, QUEUE, "BatchQuota")
    assert capsys.readouterr().out == ""


def test_a_boto3_without_quota_shares_fails_the_run_instead_of_publishing_zeros():
    with pytest.raises(RuntimeError, match="knows no quota shares"):
        handler.publish(object(), QUEUE, "BatchQuota")


def test_lambda_names_queue_and_namespace_by_the_environment(
    stubber: Stubber, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    stubber.add_response("get_job_queue_snapshot", _snapshot({}, {}), {"jobQueue": QUEUE})
    stubber.add_response("list_quota_shares", _page([("a", "LEND", {SMALL: 1})]), {"jobQueue": QUEUE})
    monkeypatch.setattr(boto3, "client", {"batch": stubber.client}.__getitem__)
    monkeypatch.setenv("JOB_QUEUE_ARN", QUEUE)
    monkeypatch.setenv("METRIC_NAMESPACE", "Training")
    handler.handler({}, None)
    first = json.loads(capsys.readouterr().out.splitlines()[0])
    assert first["_aws"]["CloudWatchMetrics"][0]["Namespace"] == "Training"


def test_the_file_needs_only_what_lambda_has():
    tree = ast.parse(Path(handler.__file__).read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names} | {
        str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)
    }
    assert {name.split(".")[0] for name in imported} - sys.stdlib_module_names == {"boto3"}


def _snapshot(usage: dict[str, dict[str, float]], fronts: dict[str, list[int]]) -> Json:
    utilization = [
        {"quotaShareName": share, "capacityUsage": [{"capacityUnit": u, "quantity": q} for u, q in by_unit.items()]}
        for share, by_unit in usage.items()
    ]
    waiting = {
        share: [{"jobArn": f"{QUEUE}/job", "earliestTimeAtPosition": since} for since in times]
        for share, times in fronts.items()
    }
    return {
        "frontOfQueue": {"jobs": [], "lastUpdatedAt": 1},
        "frontOfQuotaShares": {"quotaShares": waiting, "lastUpdatedAt": 1},
        "queueUtilization": {"quotaShareUtilization": {"topCapacityUtilization": utilization}, "lastUpdatedAt": 1},
    }


def _page(shares: Sequence[Listed]) -> Json:
    return {
        "quotaShares": [
            {
                "quotaShareName": name,
                "quotaShareArn": f"{QUEUE}/quota-share/{name}",
                "jobQueueArn": QUEUE,
                "capacityLimits": [{"capacityUnit": unit, "maxCapacity": limit} for unit, limit in limits.items()],
                "resourceSharingConfiguration": {"strategy": strategy},
                "preemptionConfiguration": {"inSharePreemption": "DISABLED"},
                "state": "ENABLED",
                "status": "VALID",
            }
            for name, strategy, limits in shares
        ]
    }


def _with_unit(shares: list[handler.Share], unit: str) -> list[handler.Share]:
    return [share for share in shares if unit in share.units]
