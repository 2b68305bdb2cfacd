"""The ids of what can be wrong with a file before any rule looks at it."""

from enum import StrEnum


class ReadingError(StrEnum):
    """Why a topology or a template cannot be read. Each has a section in docs/reading-errors.md."""

    SYNTAX = "QM001"
    UNKNOWN_KEY = "QM002"
    WRONG_VALUE = "QM003"
    MISSING_KEY = "QM004"
    DUPLICATE_KEY = "QM005"
    UNREADABLE_FILE = "QM006"
    NOT_TEXT = "QM007"
    TOO_LARGE = "QM008"
    UNSUPPORTED_YAML = "QM009"
    UNKNOWN_NAME = "QM010"
    UNKNOWN_UNTIL_DEPLOYMENT = "QM011"
    MADE_ELSEWHERE = "QM012"
    UNDECIDED_CONDITION = "QM013"
    NO_QUEUE = "QM014"
