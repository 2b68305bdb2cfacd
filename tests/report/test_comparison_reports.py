"""A comparison as people and programs read it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from math import inf

import pytest
from jsonschema import Draft202012Validator
from scenarios import LEND, LEND_AND_BORROW, RESERVE, Row, make_scenario, random_scenario, share
from seeds import seeds
from syrupy.assertion import SnapshotAssertion

from policy_engine.change import compare as changes_of
from policy_engine.change import setup_of_topology
from policy_engine.forecast import Comparison, Variant, compare
from policy_engine.report.comparison_json import comparison_json
from policy_engine.report.comparison_markdown import comparison_markdown
from policy_engine.report.comparison_tables import difference_text, figure_text
from policy_engine.report.comparison_text import Changes, comparison_text
from policy_engine.topology import Expectations, SourceMap, Topology

G5 = "ml.g5.xlarge"
HOUR = 3600
SCHEMA = json.loads(files("policy_engine.report").joinpath("comparison.schema.json").read_text(encoding="utf-8"))
HOSTILE = (
    "<script>alert(1)</script>|`*_[x](javascript:1)\x1b[31m\u202e@team #1 https://evil.example www.evil.example &lt;"
)


def setup(batch: int = 2, prod: int = 2, expected: Mapping[str, Expectations] | None = None) -> Topology:
    shares = {"batch": share({G5: batch}, LEND_AND_BORROW), "prod": share({G5: prod}, LEND)}
    topology = make_scenario({G5: batch + prod}, shares, []).topology
    return topology.model_copy(update={"expectations": dict(expected or {})})


def trace(name: str = "big") -> object:
    shares = {"batch": share({G5: 2}), "prod": share({G5: 2})}
    jobs = [
        Row(name, "batch", 0, {G5: 3}, 3 * HOUR),
        *(Row(f"p{hour}", "prod", hour * HOUR, {G5: 2}, 600) for hour in (1, 2, 3)),
        Row("p4", "prod", 3 * HOUR, {G5: 1}, 600),
    ]
    return make_scenario({G5: 4}, shares, jobs).trace


def compared(*proposed: Topology, name: str = "big") -> tuple[Comparison, ...]:
    variants = [Variant("now.yaml", setup()), *(Variant(f"next{n}.yaml", each) for n, each in enumerate(proposed, 1))]
    return compare(variants, trace(name))


def changes(comparisons: Sequence[Comparison]) -> Changes:
    def resources(topology: Topology) -> object:
        return setup_of_topology(topology, SourceMap())

    current = resources(comparisons[0].current.variant.topology)
    return {
        each.proposed.variant.label: changes_of([current], [resources(each.proposed.variant.topology)])
        for each in comparisons
    }


def text_of(*proposed: Topology, jobs: int = 3, color: bool = False) -> str:
    made = compared(*proposed)
    return comparison_text(made, changes(made), jobs=jobs, color=color)


STRICT = {"prod": Expectations(wait_max="<= baseline"), "batch": Expectations(preemptions="<= baseline - 3")}


def test_a_whole_comparison(snapshot: SnapshotAssertion):
    """Look at the snapshot as a reader would before you accept a change of it."""
    assert text_of(setup(batch=3, prod=1, expected=STRICT), setup(batch=4)) == snapshot


def test_a_whole_comparison_as_markdown(snapshot: SnapshotAssertion):
    """Look at the snapshot as a reader would before you accept a change of it."""
    made = compared(setup(batch=3, prod=1, expected=STRICT))
    assert comparison_markdown(made, changes(made), jobs=3) == snapshot


def test_nothing_that_differs_is_said():
    text = text_of(setup())
    assert "What differs\n  nothing that a replay depends on\n" in text
    assert "Nothing differs for batch, prod." in text
    assert "No job ends later." in text
    assert "No job ends sooner." in text


def test_what_differs_by_less_than_the_digits_shown_is_named_and_not_listed():
    slow = setup().assumptions.replaced({"stop_seconds": 120.001})
    variants = [Variant("now", setup()), Variant("slow", setup(), slow)]
    text = comparison_text(compare(variants, trace()), {}, jobs=0, color=False)
    assert "Less than the digits shown here differs for batch, prod." in text
    assert "Shares: what differs" not in text


def test_colour_tells_better_from_worse_and_changes_no_word():
    plain, colored = (text_of(setup(batch=3, prod=1), color=color) for color in (False, True))
    assert "\x1b[" not in plain
    assert "\x1b[31m" in colored
    assert "\x1b[32m" in colored


def test_names_are_only_text_in_markdown():
    made = compared(setup(batch=3, prod=1), name=HOSTILE)
    text = comparison_markdown(made, {}, jobs=3)
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    for harmful in ("https://", "www.", "@team", " #1", "[x](", " `*"):
        assert harmful not in text
    rows = [line for line in text.splitlines() if line.startswith("|") and "script" in line]
    assert rows
    assert all(row.replace("\\|", "").count("|") == 6 for row in rows)


def test_a_terminal_is_not_told_what_to_do_by_names():
    made = compared(setup(batch=3, prod=1), name=HOSTILE)
    text = comparison_text(made, {}, jobs=3, color=False)
    assert "\x1b" not in text
    assert "\u202e" not in text


@pytest.mark.parametrize(
    ("amount", "unit", "figure", "difference"),
    [
        (None, "seconds", "-", "-"),
        (0, "seconds", "0s", "0"),
        (3725, "seconds", "1h02m", "+1h02m"),
        (-3725.4, "seconds", None, "-1h02m"),
        (inf, "seconds", "without end", "+without end"),
        (-inf, "seconds", None, "-without end"),
        (62.46, "percent", "62.5%", "+62.5 points"),
        (-0.5, "percent", None, "-0.5 points"),
        (0.01, "percent", "0.0%", "+<0.1 points"),
        (1234, "count", "1,234", "+1,234"),
        (0.25, "count", "0.2", "+0.2"),
        (1234.5, "instance-hours", "1,234", "+1,234"),
        (-0.01, "money", None, "-<0.1"),
    ],
)
def test_figures_and_differences_are_written_in_their_unit(
    amount: float | None, unit: str, figure: str | None, difference: str
):
    if figure is not None:
        assert figure_text(amount, unit) == figure
    assert difference_text(amount, unit) == difference


# For programs


def closed(schema: object) -> object:
    """The schema with no member allowed that it does not describe."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {**inner, "additionalProperties": False} if "properties" in inner and "type" in inner else inner


def test_the_schema_is_one_and_describes_everything():
    Draft202012Validator.check_schema(SCHEMA)

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


@pytest.mark.parametrize("seed", seeds(4, 60))
def test_every_comparison_is_as_the_schema_says_and_fits_the_terminal(seed: int):
    validator = Draft202012Validator(closed(SCHEMA))
    made = random_scenario(seed)
    topology = made.topology
    slow = topology.assumptions.replaced({"stop_seconds": 60, "startup_seconds": {"default": 30}})
    variants = [Variant("now", topology), Variant("slow", topology, slow)]
    comparisons = compare(variants, made.trace, events=made.events, until=made.until)
    document = json.loads(comparison_json(comparisons, {}, jobs=5))
    assert [error.message for error in validator.iter_errors(document)] == []
    text = comparison_text(comparisons, {}, jobs=5, color=False)
    assert max(map(len, text.splitlines())) <= 80


def test_a_wait_without_end_is_null_and_no_invalid_json():
    jobs = [Row("j", "a", 0, {G5: 2}, 10)]
    scenario = make_scenario({G5: 2}, {"a": share({G5: 2}, RESERVE)}, jobs)
    starving = make_scenario({G5: 2}, {"a": share({G5: 1}, RESERVE)}, jobs).topology
    made = compare([Variant("now", scenario.topology), Variant("next", starving)], scenario.trace)
    (figure,) = [
        each
        for each in json.loads(comparison_json(made, {}, jobs=0))["comparisons"][0]["queue"]
        if each["metric"] == "wait_max"
    ]
    assert (figure["current"], figure["proposed"], figure["difference"]) == (0, None, None)


def test_the_verdicts_are_those_of_what_is_proposed():
    document = json.loads(comparison_json(compared(setup(batch=3, prod=1, expected=STRICT)), {}, jobs=0))
    verdicts = {each["metric"]: each for each in document["comparisons"][0]["expectations"]}
    assert (verdicts["preemptions"]["held"], verdicts["wait_max"]["held"]) == (True, False)
    assert document["broken"] is True
    assert json.loads(comparison_json(compared(setup()), {}, jobs=0))["broken"] is False
