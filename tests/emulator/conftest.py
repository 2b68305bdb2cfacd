import pytest
from emulated_queue import EmulatedQueue

from policy_engine.emulator.testing import Emulator


@pytest.fixture
def queue(batch_quota: Emulator) -> EmulatedQueue:
    """A VALID queue without shares."""
    return EmulatedQueue(batch_quota).create()
