"""A job's life as JSON: what programs read."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator
from scenarios import LEND, LEND_AND_BORROW, Row, Scenario, make_scenario, random_scenario, share
from seeds import seeds

from policy_engine.explanation.life import explain_job
from policy_engine.explanation.preemptions import Fate
from policy_engine.explanation.prevention import Aim, Kind, find_preventions
from policy_engine.explanation.waits import WaitEnd, WaitReason
from policy_engine.report.explanation_json import explanation_document, explanation_json
from policy_engine.scheduler import AttemptOutcome, replay

G5 = "ml.g5.xlarge"
SCHEMA = json.loads(files("policy_engine.report").joinpath("explanation.schema.json").read_text(encoding="utf-8"))
VALIDATOR = Draft202012Validator(SCHEMA)


def document_of(scenario: Scenario, job: str, *, replays: int = 0) -> dict[str, object]:
    outcome = replay(
        scenario.topology, scenario.trace, events=scenario.events, until=scenario.until, use_compiled=False
    )
    life = explain_job(outcome, scenario.trace.job_id.to_list().index(job))
    preventions = find_preventions(life, most_replays=replays, until=scenario.until) if replays else None
    document = explanation_document(life, preventions)
    assert json.loads(explanation_json(life, preventions)) == document
    return document


def reclaimed(**options: object) -> Scenario:
    return make_scenario(
        {G5: 5},
        {"a": share({G5: 4}, LEND), "b": share({G5: 1}, LEND_AND_BORROW)},
        [
            Row("old", "b", 0, {G5: 1}, 1000, priority=1),
            Row("low", "b", 10.5, {G5: 2}, 1000, checkpoint=7.5),
            Row("claims", "a", 60, {G5: 3}, 600),
        ],
        **options,
    )


def test_the_schema_is_one():
    Draft202012Validator.check_schema(SCHEMA)


def _objects(schema: object) -> Iterator[Mapping[str, object]]:
    if isinstance(schema, Mapping):
        if "properties" in schema:
            yield schema
        for value in schema.values():
            yield from _objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _objects(value)


def test_every_member_is_described():
    for described in _objects(SCHEMA):
        properties = described["properties"]
        assert isinstance(properties, Mapping)
        for name, member in properties.items():
            assert "description" in member or "const" in member or "$ref" in member, name


@pytest.mark.parametrize(
    ("place", "values"),
    [
        (("stretch", "properties", "reason"), WaitReason),
        (("wait", "properties", "ended"), WaitEnd),
    ],
)
def test_the_schema_knows_all_words(place: tuple[str, ...], values: type[WaitReason] | type[WaitEnd]):
    found = SCHEMA["$defs"]
    for step in place:
        found = found[step]
    assert found["enum"] == [value.value for value in values]


def test_the_schema_knows_the_other_words_too():
    text = json.dumps(SCHEMA)
    for words in (Fate, Aim, Kind):
        assert all(f'"{word.value}"' in text for word in words)
    assert all(f'"{outcome.name}"' in text for outcome in AttemptOutcome)


@pytest.mark.parametrize("seed", seeds(4, among=40))
def test_every_explanation_is_as_the_schema_says(seed: int):
    scenario = random_scenario(seed)
    for number, job in enumerate(scenario.trace.job_id.to_list()):
        document = document_of(scenario, job, replays=4 if number % 5 == 0 else 0)
        assert [error.message for error in VALIDATOR.iter_errors(document)] == []


def test_a_life_has_its_steps_in_order():
    document = document_of(reclaimed(), "low")
    assert document["job"] == {
        "id": "low",
        "share": "b",
        "need": {G5: 2},
        "runtime_seconds": 1000,
        "priority": 0,
        "preemption_retries": None,
        "checkpoint": 7.5,
        "status": "SUCCEEDED",
        "reason": None,
        "reason_code": None,
        "submitted_at": 10.5,
        "finished_at": 1735,
        "wait_seconds": 600,
        "preemptions": 1,
        "lost_seconds": 4.5,
    }
    first, wait, second = document["steps"]
    assert (first["step"], first["scheduled_at"], first["told_to_stop_at"], first["stopped_at"]) == (
        "ATTEMPT",
        10.5,
        60,
        180,
    )
    assert first["held"] == [{"unit": G5, "count": 2, "borrowed": 2, "lendable": {"a": 4}}]
    assert (wait["step"], wait["from"], wait["to"], wait["ended"]) == ("WAIT", 180, 780, "DISPATCHED")
    (stretch,) = wait["stretches"]
    assert (stretch["reason"], stretch["front"], stretch["stopping"]) == ("NOTHING_TO_BORROW", "low", [])
    assert (second["outcome"], second["preemption"]) == ("SUCCEEDED", None)
    assert document["prevention"] is None


def test_a_preemption_has_its_claimant_candidates_and_paragraph():
    preemption = document_of(reclaimed(), "low")["steps"][0]["preemption"]
    text = preemption.pop("text")
    assert text.startswith("low of b was preempted at 00:01:00 for claims of a.")
    assert preemption == {
        "at": 60,
        "kind": "CROSS_SHARE",
        "claimant": "claims",
        "claimant_share": "a",
        "owed": [{"unit": G5, "need": 3, "limit": 4, "kept": 0, "available": 2, "set_aside": 0, "short": 1}],
        "victim_order": "lowest_priority_youngest",
        "place": 1,
        "candidates": [
            {"job": "low", "share": "b", "priority": 0, "dispatched_at": 10.5, "gives": {G5: 2}, "fate": "STOPPED"},
            {"job": "old", "share": "b", "priority": 1, "dispatched_at": 0, "gives": {G5: 1}, "fate": "NOT_NEEDED"},
        ],
        "stopped_together": ["low"],
        "otherwise": {"oldest": ["old"]},
        "lost_seconds": 4.5,
    }


def test_who_was_stopping_for_whom_is_told():
    (wait, _) = document_of(reclaimed(), "claims")["steps"]
    (stretch,) = wait["stretches"]
    assert stretch["stopping"] == [{"job": "low", "for": "claims"}]
    (unit,) = stretch["units"]
    assert (unit["need"], unit["now"], unit["later"], unit["stopping"], unit["borrow_cap"]) == (3, 2, 4, 2, 0)


def test_what_was_tried_and_what_works_is_told():
    prevention = document_of(reclaimed(), "low", replays=40)["prevention"]
    aims = {aim["aim"]: aim for aim in prevention["aims"]}
    assert set(aims) == {"PREEMPTION", "LOSS", "WAIT"}
    assert prevention["without_change"]["preemptions"] == 1
    found = aims["PREEMPTION"]["found"]
    assert (found[0]["change"]["kind"], found[0]["worked"]) == ("PRIORITY", True)
    assert prevention["replays"] >= len(aims["PREEMPTION"]["tried"]) >= len(found)
    (trial,) = aims["LOSS"]["found"]
    assert trial["change"] == {"kind": "CHECKPOINT", "share": None, "unit": None, "before": 7.5, "after": "on_stop"}
