"""How the benchmarks run, and what is kept of them."""

import os
import platform
from importlib.metadata import version
from typing import Any

import pytest
from cpuinfo import get_cpu_info  # type: ignore[import-untyped]

from benchmarks.contended import contended_topology, contended_trace
from policy_engine.scheduler import replay


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--job-scale", type=float, default=1.0, help="part of the jobs of each made-up trace")


@pytest.fixture(scope="session")
def job_scale(request: pytest.FixtureRequest) -> float:
    """Part of the jobs of each made-up trace that is replayed, to try a benchmark out."""
    return float(request.config.getoption("--job-scale"))


@pytest.fixture(scope="session", autouse=True)
def _compiled_before() -> None:
    """The first compilation is no part of any benchmark."""
    replay(contended_topology(), contended_trace(3_000, 0.9), use_compiled=True)


def pytest_benchmark_generate_machine_info(config: pytest.Config) -> dict[str, Any]:
    """The machine and the versions that matter. No host name."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "processor": get_cpu_info().get("brand_raw", platform.processor()),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version(name) for name in ("numba", "numpy", "polars", "simpy")},
        "job_scale": config.getoption("--job-scale"),
    }


def pytest_benchmark_update_json(config: pytest.Config, benchmarks: list[Any], output_json: dict[str, Any]) -> None:
    """Keep of each benchmark its times, in seconds, and what it says of itself."""
    output_json["benchmarks"] = [
        {**entry["extra_info"], "seconds": [round(seconds, 6) for seconds in entry["stats"]["data"]]}
        for entry in output_json["benchmarks"]
    ]
    commit = output_json.pop("commit_info")
    output_json["commit"] = {"id": commit.get("id"), "dirty": commit.get("dirty")}
