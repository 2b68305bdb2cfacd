"""Ids of what only validation in synth finds. docs/policy-validation.md explains them."""

from enum import StrEnum


class ValidationId(StrEnum):
    """Ids beside those of the rules and of reading errors."""

    BROKEN_EXPECTATION = "QM501"
    UNUSABLE_REPLAY = "QM502"
    NOT_JUDGED = "QM503"
