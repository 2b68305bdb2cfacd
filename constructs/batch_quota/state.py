"""The state of a service environment, job queue or quota share."""

from enum import StrEnum


class State(StrEnum):
    """Whether a service environment, job queue or quota share takes new jobs."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"
