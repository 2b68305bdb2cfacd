"""The same input gives the same outcome, byte for byte: in every run and process, in threads, compiled or not."""

import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from outcome_bytes import document_fingerprint, fingerprints, outcome_as_bytes, replayed, trace_as_bytes
from scenarios import random_scenario

from policy_engine.scheduler import replay

TESTS = Path(__file__).parents[1]
SEEDS = range(15)
MANY_SEEDS = range(1_000)


def in_a_process(hash_seed: str) -> list[str]:
    """The fingerprints that another process finds, whose sets and dictionaries of texts stand in another order."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(TESTS / "outcome_bytes.py"), str(len(SEEDS))]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.splitlines()


def in_threads(seeds: range, *, use_compiled: bool) -> list[str]:
    """The fingerprints that four threads find, several replays being under way at once."""
    jobs = [range(seed, seed + 1) for seed in seeds]
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = list(pool.map(lambda one: fingerprints(one, use_compiled=use_compiled), jobs))
    return [fingerprint for one in found for fingerprint in one]


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_every_process_finds_the_same_outcomes(hash_seed: str) -> None:
    assert in_a_process(hash_seed) == [*fingerprints(SEEDS), document_fingerprint(SEEDS)]


def test_a_second_run_finds_the_same_outcomes_in_whichever_order() -> None:
    once = fingerprints(SEEDS)
    assert len(set(once)) == len(SEEDS)
    order = list(SEEDS)
    random.Random(1).shuffle(order)  # noqa: S311
    again = dict(zip(order, fingerprints(order), strict=True))
    assert [again[seed] for seed in SEEDS] == once


def test_threads_find_the_same_outcomes() -> None:
    assert in_threads(SEEDS, use_compiled=False) == fingerprints(SEEDS)


def test_a_replay_leaves_its_input_as_it_was() -> None:
    for seed in SEEDS:
        scenario = random_scenario(seed)
        trace, topology, events = trace_as_bytes(scenario.trace), scenario.topology.model_dump_json(), scenario.events
        replayed(scenario)
        assert trace_as_bytes(scenario.trace) == trace
        assert scenario.topology.model_dump_json() == topology
        assert scenario.events == events


def test_looking_on_changes_nothing() -> None:
    for seed in SEEDS:
        scenario = random_scenario(seed)
        seen: list[int] = []
        watched = replay(
            scenario.topology,
            scenario.trace,
            events=scenario.events,
            until=scenario.until,
            use_compiled=False,
            on_progress=seen.append,
        )
        assert outcome_as_bytes(watched) == outcome_as_bytes(replayed(scenario))
        assert seen == sorted(seen)


@pytest.mark.slow
def test_compiled_and_interpreted_find_the_same_outcomes() -> None:
    assert fingerprints(MANY_SEEDS, use_compiled=True) == fingerprints(MANY_SEEDS)


@pytest.mark.slow
def test_threads_that_run_compiled_find_the_same_outcomes() -> None:
    assert in_threads(MANY_SEEDS, use_compiled=True) == fingerprints(MANY_SEEDS, use_compiled=True)
