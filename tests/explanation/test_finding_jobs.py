"""Finding the job that somebody means."""

import pytest
from scenarios import Row, make_trace

from policy_engine.explanation.finding_jobs import job_row, similar_jobs

TRACE = make_trace(
    [Row(name, "a", at, {"ml.g5.xlarge": 1}, 1) for at, name in enumerate(["train-001", "train-002", "Eval", "x"])]
)


def test_a_job_is_found_by_its_id_and_by_nothing_else():
    assert job_row(TRACE, "train-002") == 1
    assert job_row(TRACE, "train") is None
    assert job_row(make_trace([]), "train") is None


@pytest.mark.parametrize(
    ("name", "similar"),
    [
        ("train", ["train-001", "train-002"]),
        ("TRAIN-002", ["train-002"]),
        ("eval", ["Eval"]),
        ("train-01", ["train-001"]),
        ("", []),
        ("nothing like it", []),
        ("(", []),
    ],
)
def test_ids_that_may_have_been_meant_are_suggested(name: str, similar: list[str]):
    assert similar_jobs(TRACE, name)[: len(similar) or None] == similar


def test_among_very_many_ids_the_likeliest_are_compared():
    many = make_trace([Row(f"job-{at:06}", "a", at, {"ml.g5.xlarge": 1}, 1) for at in range(20_000)])
    assert all("1234" in name for name in similar_jobs(many, "job-01234x"))
    assert similar_jobs(make_trace([]), "job") == []
