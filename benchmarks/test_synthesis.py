"""What the constructs cost above the L1s that they make: both as fresh processes, on the same resources, in turns."""

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.bare_stack import bare_program
from benchmarks.synthesis import NAME
from benchmarks.timing import timed_after

Json = dict[str, Any]

CHECKOUT = Path(__file__).parents[1]
CONSTRUCTS = ["-m", "benchmarks.synthesis"]


def synthesize(program: list[str], folder: Path) -> float:
    """Seconds that a program says its synthesis took."""
    command = [sys.executable, *program, str(folder)]
    return float(subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout)


def to_deploy(folder: Path) -> Json:
    """The template, with a word for the hash of the function's code, which is among what has to be uploaded."""
    manifest = json.loads((folder / f"{NAME}.assets.json").read_text())
    (code,) = [key for key, file in manifest["files"].items() if file["source"]["packaging"] == "zip"]
    return dict(json.loads((folder / f"{NAME}.template.json").read_text().replace(code, "CODE")))


@pytest.fixture
def bare(tmp_path: Path) -> list[str]:
    """The program without the constructs, which deploys the same."""
    synthesize(CONSTRUCTS, tmp_path / "constructs")
    program = tmp_path / "bare.py"
    program.write_text(bare_program(NAME, tmp_path / "constructs"))
    synthesize([str(program)], tmp_path / "bare")
    if to_deploy(tmp_path / "bare") != to_deploy(tmp_path / "constructs"):
        raise ValueError("the program without the constructs deploys something else")
    return [str(program)]


@pytest.mark.benchmark(group="synthesis")
def test_synthesis(bare: list[str], tmp_path: Path, benchmark: BenchmarkFixture) -> None:
    seconds: dict[str, list[float]] = {"synthesis_seconds": [], "bare_seconds": [], "bare_synthesis_seconds": []}

    def before() -> list[str]:
        started = time.perf_counter()
        alone = synthesize(bare, tmp_path / "bare")
        seconds["bare_seconds"].append(round(time.perf_counter() - started, 6))
        seconds["bare_synthesis_seconds"].append(round(alone, 6))
        return CONSTRUCTS

    def measured(program: list[str]) -> None:
        seconds["synthesis_seconds"].append(round(synthesize(program, tmp_path / "constructs"), 6))

    timed_after(benchmark, before, measured, rounds=15)
    benchmark.extra_info.update(measure="synthesis", case="20 shares, everything on", **seconds)
