"""moto's random identifiers, when they have to be the same again."""

from collections.abc import Iterator
from contextlib import contextmanager

from moto.moto_api._internal import mock_random


@contextmanager
def identifiers_from(seed: int | str) -> Iterator[None]:
    """In this block moto draws its identifiers from a seed; after it, as if the block had not been."""
    before = mock_random.getstate()
    mock_random.seed(seed)
    try:
        yield
    finally:
        mock_random.setstate(before)
