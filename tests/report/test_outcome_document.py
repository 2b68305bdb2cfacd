"""The outcome as JSON: what programs read."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from importlib.resources import files

import numpy as np
import polars as pl
import pytest
from jsonschema import Draft202012Validator
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.assumptions import Assumptions
from policy_engine.pricing import Prices
from policy_engine.report import assess, outcome_document
from policy_engine.report import outcome_json as module
from policy_engine.report.outcome_json import outcome_json
from policy_engine.scheduler import Outcome, Reason, replay
from policy_engine.scheduler.reasons import SIMULATED, STATUS_REASON
from policy_engine.topology import Expectations

G5 = "ml.g5.xlarge"
P5 = "ml.p5.48xlarge"
SCHEMA = json.loads(files("policy_engine.report").joinpath("outcome.schema.json").read_text(encoding="utf-8"))
HOUR = 3600


def outcome_of(scenario: Scenario, **expectations: Expectations) -> Outcome:
    topology = scenario.topology.model_copy(update={"expectations": expectations})
    return replay(topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False)


def document_of(scenario: Scenario, **expectations: Expectations) -> dict[str, object]:
    return outcome_document(outcome_of(scenario, **expectations))


def notebook(**options: object) -> Scenario:
    """AWS's notebook: QS1 borrows QS2's instance and gives it back; QS3 keeps its own."""
    return make_scenario(
        {G5: 3},
        {
            "QS1": share({G5: 1}, LEND_AND_BORROW, borrow_limit=200, in_share_preemption=True),
            "QS2": share({G5: 1}, LEND),
            "QS3": share({G5: 1}, RESERVE),
        },
        [
            Row("high", "QS1", 0, {G5: 1}, 300, priority=3),
            Row("med", "QS1", 0, {G5: 1}, 300, priority=2),
            Row("low", "QS1", 0.25, {G5: 1}, 300, priority=1),
            Row("qs2", "QS2", 60.5, {G5: 1}, 300, priority=1),
        ],
        **options,
    )


def test_a_job_has_its_times_its_wait_its_losses_and_its_attempts():
    jobs = {job["id"]: job for job in document_of(notebook())["jobs"]}
    assert jobs["med"] == {
        "id": "med",
        "share": "QS1",
        "status": "SUCCEEDED",
        "submitted_at": 0,
        "first_scheduled_at": 0,
        "finished_at": 600,
        "wait_seconds": 0,
        "preemptions": 1,
        "lost_seconds": 60.5,
        "reason": None,
        "reason_code": None,
        "attempts": [
            {"scheduled_at": 0, "running_at": 0, "stopped_at": 180.5, "outcome": "PREEMPTED"},
            {"scheduled_at": 300, "running_at": 300, "stopped_at": 600, "outcome": "SUCCEEDED"},
        ],
    }
    assert (jobs["low"]["submitted_at"], jobs["low"]["wait_seconds"]) == (0.25, 480.25)


def test_a_preemption_has_both_jobs_their_shares_and_what_is_freed():
    assert document_of(notebook())["preemptions"] == [
        {
            "at": 60.5,
            "victim": "med",
            "victim_share": "QS1",
            "claimant": "qs2",
            "claimant_share": "QS2",
            "kind": "CROSS_SHARE",
            "capacity": {G5: 1},
            "lost_seconds": 60.5,
        }
    ]


def test_the_capacity_of_a_victim_names_the_units_it_has_by_name():
    scenario = make_scenario(
        {G5: 4, P5: 1},
        {"a": share({G5: 2, P5: 1}, RESERVE, in_share_preemption=True)},
        [
            Row("both", "a", 0, {P5: 1, G5: 2}, 100),
            Row("one", "a", 10, {P5: 1}, 100, priority=1),
            Row("other", "a", 200, {P5: 1}, 100, priority=2),
        ],
    )
    capacities = [list(made["capacity"].items()) for made in document_of(scenario)["preemptions"]]
    assert capacities == [[(G5, 2), (P5, 1)], [(P5, 1)]]


def test_lost_seconds_are_of_the_job_and_lost_instance_hours_of_its_instances():
    jobs = [Row("low", "a", 0, {G5: 4}, 2 * HOUR), Row("high", "a", HOUR, {G5: 4}, 60, priority=1)]
    document = document_of(make_scenario({G5: 4}, {"a": share({G5: 4}, RESERVE, in_share_preemption=True)}, jobs))
    assert document["jobs"][0]["lost_seconds"] == document["preemptions"][0]["lost_seconds"] == HOUR
    assert document["shares"][0]["lost_instance_hours"] == 4


def test_assumptions_are_all_there_as_a_topology_writes_them():
    document = document_of(notebook(assumptions={"stop_seconds": 1.5, "startup_seconds": {"default": 3, G5: "1m"}}))
    assert document["assumptions"] == {
        **Assumptions().model_dump(mode="json"),
        "stop_seconds": 1.5,
        "startup_seconds": {"default": 3, G5: 60},
    }
    assert Assumptions.model_validate(document["assumptions"]).stop_seconds == 1500


@pytest.mark.parametrize(
    ("job", "status", "code", "text"),
    [
        pytest.param(
            Row("j", "reserved", 0, {G5: 3}, 10),
            "RUNNABLE",
            "LIMIT_EXCEEDED",
            "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits.",
            id="above its limit",
        ),
        pytest.param(
            Row("j", "reserved", 0, {G5: 9}, 10),
            "RUNNABLE",
            "SERVICE_ENVIRONMENT_MAX_RESOURCE",
            "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the job queue "
            "cannot meet the capacity requirement of the job.",
            id="above the service environment",
        ),
        pytest.param(
            Row("j", "capped", 0, {G5: 4}, 10),
            "RUNNABLE",
            "BORROW_LIMIT_EXCEEDED",
            "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits "
            "and borrow limits.",
            id="above limit and borrow limit",
        ),
        pytest.param(
            Row("j", "borrower", 0, {G5: 6}, 10),
            "RUNNABLE",
            "BORROWABLE_EXCEEDED",
            "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requires borrowing that exceeds all configured "
            "borrowable capacity.",
            id="above what can be borrowed",
        ),
        pytest.param(
            Row("j", "reserved", 0, {G5: 1}, 10, fails=True),
            "FAILED",
            "JOB_FAILED",
            "Simulated: the trace says that the job fails at its end.",
            id="fails by itself",
        ),
        pytest.param(
            Row("j", "reserved", 0, {G5: 1}, 10, timeout=5),
            "FAILED",
            "ATTEMPT_TIMED_OUT",
            "Simulated: an attempt ran as long as its timeout allows.",
            id="times out",
        ),
    ],
)
def test_a_reason_is_aws_s_text_or_marked_as_ours(job: Row, status: str, code: str, text: str):
    shares = {
        "reserved": share({G5: 2}, RESERVE),
        "capped": share({G5: 2}, LEND_AND_BORROW, borrow_limit=50),
        "borrower": share({G5: 2}, LEND_AND_BORROW),
    }
    (written,) = document_of(make_scenario({G5: 8}, shares, [job]))["jobs"]
    assert (written["status"], written["reason_code"], written["reason"]) == (status, code, text)


def test_a_time_limit_action_gives_aws_s_text():
    scenario = make_scenario(
        {G5: 2},
        {"a": share({G5: 1}, RESERVE)},
        [Row("j", "a", 0, {G5: 2}, 10)],
        time_limits={"MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED": 600},
    )
    (job,) = document_of(scenario)["jobs"]
    assert job["reason"] == (
        "Terminated by JobStateTimeLimit action due to reason: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    )
    assert (job["status"], job["finished_at"], job["wait_seconds"], job["attempts"]) == ("FAILED", 600, None, [])


def test_every_reason_has_a_text_and_those_that_aws_does_not_publish_say_so():
    aws = {reason for reason, text in STATUS_REASON.items() if not text.startswith(SIMULATED)}
    assert set(STATUS_REASON) == set(Reason) - {Reason.NONE}
    assert aws == {
        Reason.SERVICE_ENVIRONMENT_MAX_RESOURCE,
        Reason.LIMIT_EXCEEDED,
        Reason.BORROW_LIMIT_EXCEEDED,
        Reason.BORROWABLE_EXCEEDED,
        Reason.TIME_LIMIT_SERVICE_ENVIRONMENT,
        Reason.TIME_LIMIT_QUOTA_MANAGEMENT,
    }


def test_a_replay_that_is_stopped_leaves_out_what_comes_later_and_counts_it():
    document = document_of(notebook(until=30_000))
    assert [job["id"] for job in document["jobs"]] == ["high", "med", "low"]
    assert document["queue"]["not_submitted"] == 1
    assert document["ended_at"] == 30
    assert document["jobs"][0]["attempts"] == [
        {"scheduled_at": 0, "running_at": 0, "stopped_at": None, "outcome": "RUNNING"}
    ]
    low = document["jobs"][2]
    assert (low["status"], low["first_scheduled_at"], low["wait_seconds"]) == ("RUNNABLE", None, None)


def test_expectations_and_livelocks_are_told():
    jobs = [
        Row("big", "batch", 0, {G5: 4}, 2 * HOUR),
        *(Row(f"p{hour}", "prod", hour * HOUR, {G5: 2}, 600) for hour in range(1, 5)),
    ]
    scenario = make_scenario({G5: 4}, {"batch": share({G5: 2}, LEND_AND_BORROW), "prod": share({G5: 2}, LEND)}, jobs)
    document = document_of(scenario, batch=Expectations(preemptions=3, wait_max="5m"))
    assert document["expectations"] == [
        {
            "target": "batch",
            "metric": "wait_max",
            "expected": "<= 5m",
            "measured": 0,
            "baseline": None,
            "held": True,
            "because": None,
            "job": None,
            "at": None,
        },
        {
            "target": "batch",
            "metric": "preemptions",
            "expected": "<= 3",
            "measured": 4,
            "baseline": None,
            "held": False,
            "because": "the first: big at 01:00:00, for p1 of prod",
            "job": "big",
            "at": HOUR,
        },
    ]
    assert document["livelocked_jobs"] == 1
    (livelock,) = document["livelocks"]
    assert livelock["above_limit"] == {G5: {"need": 4, "limit": 2}}
    assert (livelock["job"], livelock["stops"], livelock["period_seconds"]) == ("big", 4, HOUR)
    assert livelock["claimants"] == {"prod": 4}


def test_a_wait_without_end_is_null():
    scenario = make_scenario({G5: 2}, {"a": share({G5: 1}, RESERVE)}, [Row("j", "a", 0, {G5: 2}, 10)])
    (verdict,) = document_of(scenario, a=Expectations(wait_max="1h"))["expectations"]
    assert (verdict["measured"], verdict["held"]) == (None, False)


def test_a_bound_that_is_relative_has_the_figure_of_its_baseline():
    outcome = outcome_of(notebook(), QS1=Expectations(preemptions="<= baseline", wait_max="<= baseline * 2"))
    waits, preemptions = outcome_document(outcome, baseline=outcome_of(notebook()))["expectations"]
    assert (preemptions["expected"], preemptions["baseline"], preemptions["held"]) == ("<= baseline", 1, True)
    assert waits["baseline"] == waits["measured"] > 0
    alone = outcome_document(outcome)["expectations"][0]
    assert (alone["baseline"], alone["held"], alone["because"]) == (None, None, "no baseline is given")


def test_costs_stand_beside_the_hours_they_are_of():
    prices = Prices("USD", "us-east-1", date(2026, 11, 30), {G5: 3600.0}, "a test")
    document = outcome_document(outcome_of(notebook()), prices=prices)
    assert document["prices"] == {
        "currency": "USD",
        "region": "us-east-1",
        "date": "2026-11-30",
        "source": "a test",
        "without": [],
    }
    for figures in (document["queue"], *document["shares"], *document["teams"]):
        assert figures["cost"]["used"] == pytest.approx(figures["used_instance_hours"] * 3600, abs=0.01)
        assert figures["gpu_hours"]["lent"] == pytest.approx(figures["lent_instance_hours"], abs=1e-5)
    assert outcome_document(outcome_of(notebook()))["prices"] is None
    assert outcome_document(outcome_of(notebook()))["queue"]["cost"]["used"] is None


def test_usage_comes_only_when_asked_for_as_columns():
    outcome = outcome_of(notebook())
    assert "usage" not in outcome_document(outcome)
    series = {entry["share"]: entry for entry in outcome_document(outcome, usage=True)["usage"]}
    assert list(series) == ["QS1", "QS2", "QS3"]
    assert series["QS2"] == {
        "share": "QS2",
        "unit": G5,
        "at": [0, 60.5, 180.5, 480.5, 600],
        "limit": [1, 1, 1, 1, 1],
        "used": [0, 0, 1, 0, 0],
        "own": [0, 0, 1, 0, 0],
        "borrowed": [0, 0, 0, 0, 0],
        "lent": [1, 1, 0, 1, 0],
        "idle": [0, 0, 0, 0, 1],
        "pending": [0, 1, 0, 0, 0],
    }


def test_a_trace_with_dates_says_when_it_started():
    scenario = notebook()
    dated = make_dated(scenario, 1_772_438_400_000)
    assert document_of(scenario)["started_at"] is None
    assert document_of(dated)["started_at"] == "2026-03-02T08:00:00.000Z"


def make_dated(scenario: Scenario, epoch: int) -> Scenario:
    columns = {name: getattr(scenario.trace, name) for name in type(scenario.trace).__slots__}
    return Scenario(scenario.topology, type(scenario.trace)(**{**columns, "epoch": epoch}))


ODD_NAMES = ['quote"', "back\\slash", "tab\t", "new\nline", "ünïcode ☃", "\x7f", "{}", "null", "12", " "]


def test_any_name_comes_through_whole():
    names = {f"share {name}": share({G5: 1}, RESERVE) for name in ODD_NAMES}
    jobs = [Row(f"job {name}", f"share {name}", 0, {G5: 1}, 1) for name in ODD_NAMES]
    document = document_of(make_scenario({G5: len(names)}, names, jobs))
    assert [(job["id"], job["share"]) for job in document["jobs"]] == [(job.id, job.share) for job in jobs]


def test_a_trace_of_numbers_past_32_bits_keeps_them_to_the_millisecond():
    jobs = [Row("late", "a", 9_999_999.999, {G5: 1}, 860_000_000.001)]
    (job,) = document_of(make_scenario({G5: 1}, {"a": share({G5: 1}, RESERVE)}, jobs))["jobs"]
    assert (job["submitted_at"], job["finished_at"]) == (9_999_999.999, 870_000_000)


def test_an_outcome_without_jobs_is_a_document_too():
    scenario = notebook()
    trace = scenario.trace
    empty = {
        name: getattr(trace, name)[:0]
        if isinstance(getattr(trace, name), np.ndarray | pl.Series)
        else getattr(trace, name)
        for name in type(trace).__slots__
        if name not in {"needs", "units", "share_names"}
    }
    nothing = type(trace)(**empty, needs=trace.needs, units=trace.units, share_names=trace.share_names)
    document = outcome_document(replay(scenario.topology, nothing, use_compiled=False), usage=True)
    assert (document["jobs"], document["preemptions"], document["queue"]["jobs"]) == ([], [], 0)
    assert problems(document) == []


def test_parts_of_any_size_make_the_same_bytes(monkeypatch: pytest.MonkeyPatch):
    for seed in range(20):
        assessment = assess(outcome_of(random_scenario(seed)))
        whole = "".join(outcome_json(assessment, usage=True))
        with monkeypatch.context() as patched:
            patched.setattr(module, "_ROWS_AT_ONCE", 3)
            assert "".join(outcome_json(assessment, usage=True)) == whole


def test_the_same_replay_makes_the_same_bytes():
    for seed in range(20):
        first, second = ("".join(outcome_json(assess(outcome_of(random_scenario(seed))))) for _ in range(2))
        assert first == second


def closed(schema: object) -> object:
    """The schema with no member allowed that it does not describe."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {**inner, "additionalProperties": False} if "properties" in inner and "type" in inner else inner


CLOSED = Draft202012Validator(closed(SCHEMA))


def problems(document: object) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in CLOSED.iter_errors(document)]


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def test_everything_in_the_schema_is_described():
    def undescribed(schema: object, path: str) -> Iterator[str]:
        if isinstance(schema, Mapping):
            for name, member in schema.get("properties", {}).items():
                if name != "version" and not ({"description", "$ref"} & set(member)):
                    yield f"{path}.{name}"
            for key, value in schema.items():
                yield from undescribed(value, f"{path}.{key}")
        elif isinstance(schema, list):
            for item in schema:
                yield from undescribed(item, path)

    assert list(undescribed(SCHEMA, "")) == []


@pytest.mark.parametrize("first_seed", seeds(20, among=60, step=20))
def test_outcomes_are_as_the_schema_says_with_nothing_besides(first_seed: int):
    bounds = Expectations(wait_p95="1m", preemptions=1, utilization=">= 50%", goodput="> 90%", never_ran=0)
    for seed in range(first_seed, first_seed + 20):
        scenario = random_scenario(seed)
        outcome = outcome_of(scenario, queue=bounds, s1=bounds)
        assert problems(outcome_document(outcome, usage=True)) == []
