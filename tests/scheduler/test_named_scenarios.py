"""Each file of tests/scenarios is a specification: the replay and the oracle do, step by step, what it says."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from differential import in_oracle_words
from oracle import OracleOutcome
from oracle import replay as replay_by_oracle
from scenario_files import (
    FOLDER,
    ScenarioFile,
    ScenarioFileError,
    headings,
    in_order,
    read_scenario_file,
    scenario_paths,
    steps_of,
)
from scenarios import Scenario

from policy_engine.scheduler import replay

PATHS = scenario_paths()
CASES = [
    pytest.param(path, number, id=f"{path.relative_to(FOLDER).with_suffix('')}{heading.removeprefix('## Expected')}")
    for path in PATHS
    for number, heading in enumerate(headings(path))
]
DECISIONS = Path(__file__).parents[2] / "docs" / "scheduling-model-decisions.md"


@cache
def read(path: Path) -> ScenarioFile:
    return read_scenario_file(path)


def by_replay(scenario: Scenario) -> OracleOutcome:
    topology, trace, events = scenario.topology, scenario.trace, scenario.events
    return in_oracle_words(replay(topology, trace, events=events, until=scenario.until, use_compiled=False))


def by_oracle(scenario: Scenario) -> OracleOutcome:
    return replay_by_oracle(scenario.topology, scenario.trace, scenario.events, until=scenario.until)


@pytest.mark.parametrize("scheduler", [by_replay, by_oracle])
@pytest.mark.parametrize(("path", "number"), CASES)
def test_what_happens_is_what_the_scenario_says(
    path: Path, number: int, scheduler: Callable[[Scenario], OracleOutcome]
) -> None:
    expectation = read(path).expectations[number]
    outcome = scheduler(expectation.scenario)
    assert expectation.steps_in(outcome) == in_order(expectation.steps)
    for job in outcome.jobs:
        lost = [preemption.lost for preemption in outcome.preemptions if preemption.victim == job.id]
        assert (job.preemptions, job.lost) == (len(lost), sum(lost)), job.id


def test_each_name_is_a_sentence_of_its_own() -> None:
    names = Counter(path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for path in PATHS)
    assert [name for name, times in names.items() if times > 1 or not re.fullmatch(r"[A-Z].*\.", name)] == []


def slug(title: str) -> str:
    return "-".join(re.findall(r"[a-z0-9]+", title.lower()))


def test_every_decision_about_the_model_has_a_scenario_named_after_it() -> None:
    decisions = re.findall(r"^(\d+)\. \*\*(.+?)\*\*", DECISIONS.read_text(encoding="utf-8"), re.MULTILINE)
    wanted = [f"{int(number):02}-{slug(title)}" for number, title in decisions]
    names = [path.stem for path in (FOLDER / "decisions").glob("*.md")]
    assert len(wanted) >= 16
    assert [decision for decision in wanted if not any(name.startswith(decision) for name in names)] == []
    assert [name for name in names if not any(name.startswith(decision) for decision in wanted)] == []


@pytest.mark.parametrize(
    ("replaced", "by", "complaint"),
    [
        ("# AWS", "AWS", "the first line must be"),
        ("## Expected", "## Anticipated", "expected `## Expected…`"),
        ("```text", "```", "expected a block of text"),
        ("| ---", "| a", "expected a table"),
        ("0s DISPATCH", "0s DISPATCHED", "expected a step such as"),
        ("1460s SUCCEEDED qs1_job_med\n```", "1460s SUCCEEDED qs1_job_med\n", "the block of text is not closed"),
    ],
)
def test_a_file_of_another_form_is_refused(replaced: str, by: str, complaint: str, tmp_path: Path) -> None:
    text = (FOLDER / "published" / "aws-notebook.md").read_text(encoding="utf-8")
    path = tmp_path / "scenario.md"
    path.write_text(text.replace(replaced, by), encoding="utf-8")
    with pytest.raises(ScenarioFileError, match=complaint):
        in_order(read_scenario_file(path).expectations[0].steps)


def test_two_replays_of_one_heading_are_refused(tmp_path: Path) -> None:
    text = (FOLDER / "published" / "aws-notebook.md").read_text(encoding="utf-8")
    path = tmp_path / "scenario.md"
    path.write_text(text + "\n## Expected\n\n```text\n0s DISPATCH qs1_job_high\n```\n", encoding="utf-8")
    with pytest.raises(ScenarioFileError, match="expected twice"):
        read_scenario_file(path)


def test_a_step_that_is_missing_is_noticed() -> None:
    notebook = read(FOLDER / "published" / "aws-notebook.md").expectations[0]
    assert steps_of(by_oracle(notebook.scenario)) != in_order(notebook.steps[:-1])
