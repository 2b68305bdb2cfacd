"""Seeds of random scenarios for tests that are run on each of them: a few always, many in `make test-all`."""

from collections.abc import Sequence

import pytest
from _pytest.mark import ParameterSet


def seeds(always: int, among: int, *, step: int = 1) -> Sequence[ParameterSet]:
    """The seeds 0, step, … below `among`; those from `always` on are slow."""
    return [pytest.param(seed, marks=pytest.mark.slow if seed >= always else ()) for seed in range(0, among, step)]
