"""The fixture `batch_quota` as a user's own tests see it."""

import os
import subprocess
import sys
from pathlib import Path


def run_pytest(folder: Path, test: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_own.py").write_text(test, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")  # else the one of a folder above would count
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PYTEST_"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_own.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_test_that_asks_for_the_fixture_has_an_emulator_and_time_in_its_hands(tmp_path: Path) -> None:
    test = """
import boto3
import moto.batch, moto.batch.models, moto.batch.responses, moto.batch_simple.models

MODULES = (moto.batch, moto.batch.models, moto.batch.responses, moto.batch_simple.models)
OWN = moto.batch.batch_backends

def create(batch_quota):
    batch = boto3.client("batch", region_name="eu-west-1")
    limits = [{"maxCapacity": 1, "capacityUnit": "ml.g5.xlarge"}]
    batch.create_service_environment(
        serviceEnvironmentName="e", serviceEnvironmentType="SAGEMAKER_TRAINING", capacityLimits=limits
    )
    return batch

def status(batch):
    return [each["status"] for each in batch.describe_service_environments()["serviceEnvironments"]]

def test_advance(batch_quota):
    batch = create(batch_quota)
    assert status(batch) == ["CREATING"]
    batch_quota.advance("1s")
    assert status(batch) == ["VALID"]

def test_each_test_begins_with_nothing(batch_quota):
    assert status(boto3.client("batch", region_name="eu-west-1")) == []
    batch = create(batch_quota)
    batch_quota.run_until_idle()
    assert status(batch) == ["VALID"]

def test_moto_is_extended(batch_quota):
    assert all(module.batch_backends is batch_quota.backends for module in MODULES)

def test_moto_is_as_it_was():
    assert all(module.batch_backends is OWN for module in MODULES)
"""
    run = run_pytest(tmp_path, test)
    assert run.returncode == 0, run.stdout
    assert "4 passed" in run.stdout


def test_a_test_run_that_does_not_ask_for_it_imports_no_moto(tmp_path: Path) -> None:
    test = """
import sys

def test_nothing():
    assert "policy_engine.emulator.pytest_plugin" in sys.modules
    heavy = {"moto", "boto3", "botocore", "numba", "polars", "numpy"} & set(sys.modules)
    assert heavy == set()
"""
    run = run_pytest(tmp_path, test)
    assert run.returncode == 0, run.stdout
