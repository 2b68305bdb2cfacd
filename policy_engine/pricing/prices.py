"""Prices of instances, as a file gives them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Prices:
    """What an instance of each type costs in an hour."""

    currency: str
    """Three letters of ISO 4217, such as USD."""
    region: str
    """The Region that they are for, such as us-east-1."""
    date: date
    """When they were valid."""
    per_hour: Mapping[str, float]
    """By SageMaker instance type, such as `ml.g5.xlarge`; each at least 0."""
    source: str = ""
    """Where they come from, in words. Empty if that is not known."""
