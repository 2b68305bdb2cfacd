import pytest

from policy_engine.topology.instance_types import training_instance_types
from policy_engine.topology.suggestions import closest, did_you_mean


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("ml.g5.xlrage", "ml.g5.xlarge"),
        ("g5.xlarge", "ml.g5.xlarge"),
        ("ML.G5.48XLARGE", "ml.g5.48xlarge"),
        ("ml.p5.48large", "ml.p5.48xlarge"),
        ("m1.g5.xlarge", "ml.g5.xlarge"),
    ],
)
def test_a_mistyped_instance_type_suggests_the_one_meant(word: str, meant: str):
    assert closest(word, training_instance_types()) == meant


@pytest.mark.parametrize(
    ("word", "meant"),
    [("borrow-limit", "borrow_limit"), ("Strategy", "strategy"), ("capcity", "capacity"), ("colour", None), ("", None)],
)
def test_a_mistyped_key_suggests_the_one_meant_or_none(word: str, meant: str | None):
    assert closest(word, ["capacity", "strategy", "borrow_limit"]) == meant


def test_a_suggestion_reads_as_a_question_and_has_a_fallback():
    assert did_you_mean("lend", ["RESERVE", "LEND"]) == "did you mean 'LEND'?"
    assert did_you_mean("zzz", ["RESERVE", "LEND"], "one of RESERVE, LEND") == "one of RESERVE, LEND"
