"""The fixture `batch_quota`, for every project in which this package is installed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from policy_engine.emulator.testing import Emulator


@pytest.fixture
def batch_quota() -> "Iterator[Emulator]":
    """AWS as moto mocks it, with quota management in AWS Batch. Time goes on by `advance` and `run_until_idle` only."""
    # Imported here: a test run that does not use the fixture pays nothing for it, and needs no moto.
    from policy_engine.emulator.testing import emulated

    with emulated() as emulator:
        yield emulator
