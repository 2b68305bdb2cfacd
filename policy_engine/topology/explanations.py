"""What pydantic finds wrong with a topology, in the words and at the places of the file."""

import re
from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from policy_engine.assumptions import Assumptions
from policy_engine.diagnostics import Finding, Position, Severity, described
from policy_engine.topology.capacity import UNION_TAGS, TrainingPlanCapacity
from policy_engine.topology.document import Document
from policy_engine.topology.expectations import Expectations
from policy_engine.topology.model import WRONG_TARGET, Queue, QuotaShare, Suppression, Team, TimeLimit, Topology
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.shape import choices_at, fields_of, model_at
from policy_engine.topology.source import Path, SourceMap
from policy_engine.topology.suggestions import closest, did_you_mean

_NOUNS: Mapping[type[BaseModel], str] = {
    Topology: "a topology",
    TrainingPlanCapacity: "a training plan's capacity",
    Queue: "the queue",
    TimeLimit: "a time limit",
    Team: "a team",
    QuotaShare: "a quota share",
    Suppression: "a suppression",
    Expectations: "expectations",
    Assumptions: "assumptions",
}
_EXPECTED = {
    "int_type": "a whole number",
    "string_type": "a text",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
    "string_too_short": "a text that is not empty",
}
_LIMITS = {
    "greater_than_equal": ("ge", "at least"),
    "greater_than": ("gt", "more than"),
    "less_than_equal": ("le", "at most"),
    "less_than": ("lt", "less than"),
}
_DIGITS = re.compile(r"-?[0-9]{1,10}")
_ADDED_STEPS = {"[key]"} | UNION_TAGS
_YAML_1_1_BOOLEANS = frozenset({"yes", "no", "on", "off", "y", "n"})


def explain(error: ValidationError, document: Document) -> Iterator[Finding]:
    """A finding for each error, but for those that follow from a misspelt key or a value that was refused before."""
    errors = [
        (details, tuple(part for part in details["loc"] if part not in _ADDED_STEPS)) for details in error.errors()
    ]
    misspelt = {(*path[:-1], _meant(path)) for details, path in errors if details["type"] == "extra_forbidden"}
    for details, path in errors:
        refused = any(path[:end] in document.refused for end in range(len(path) + 1))
        explained = details["type"] == "missing" and path in misspelt
        if not refused and not explained and details["type"] != WRONG_TARGET:
            yield _finding(details, path, document.sources)


def _finding(details: ErrorDetails, path: Path, sources: SourceMap) -> Finding:
    match details["type"]:
        case "missing":
            return _missing(path, sources)
        case "extra_forbidden":
            return _unknown_key(path, sources)
        case _:
            position = sources.position(path)
            message = f"{_label(path)}: {_problem(details)}"
            return _error(ReadingError.WRONG_VALUE, message, _mend(details, path, position), path, position)


def _missing(path: Path, sources: SourceMap) -> Finding:
    *parent, key = path
    model = model_at(tuple(parent))
    field = fields_of(model).get(str(key)) if model else None
    message = f"{_label(tuple(parent))} has no {described(key)}"
    mend = f"{key}: {field.description}" if field and field.description else ""
    return _error(ReadingError.MISSING_KEY, message, mend, path, sources.key_position(tuple(parent)))


def _unknown_key(path: Path, sources: SourceMap) -> Finding:
    *parent, last = path
    key = str(last)
    model = model_at(tuple(parent))
    known = tuple(fields_of(model)) if model else ()
    noun = _NOUNS.get(model, "this mapping") if model else "this mapping"
    message = f"there is no metric {described(key)}" if model is Expectations else f"{noun} has no key {described(key)}"
    mend = did_you_mean(key, known, _home_of(key) or f"known: {', '.join(known)}")
    return _error(ReadingError.UNKNOWN_KEY, message, mend, path, sources.key_position(path))


def _meant(path: Path) -> str | None:
    model = model_at(path[:-1])
    return closest(str(path[-1]), fields_of(model)) if model else None


def _home_of(key: str) -> str:
    homes = [noun for model, noun in _NOUNS.items() if key in fields_of(model)]
    return f"'{key}' is a key of {' and of '.join(homes)}" if homes else ""


def _problem(details: ErrorDetails) -> str:
    given, kind, context = details["input"], details["type"], details.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind == "enum":
        expected = str(context["expected"]).replace("'", "")
    elif kind in _LIMITS:
        name, words = _LIMITS[kind]
        expected = f"{words} {context[name]}"
    elif kind in _EXPECTED:
        expected = _EXPECTED[kind]
    else:
        return details["msg"]
    return f"expected {expected}, not {described(given)}"


def _mend(details: ErrorDetails, path: Path, position: Position | None) -> str:
    given = details["input"]
    match details["type"]:
        case "string_type" if isinstance(given, int | float):
            return f'put it in quotes: "{_as_written(given, position)}"'
        case "bool_type" if isinstance(given, str):
            return _mend_boolean(given)
        case "int_type" if isinstance(given, str | float):
            return _mend_number(str(given))
        case "enum" if isinstance(given, str):
            return did_you_mean(given, choices_at(path))
        case "dict_type" | "model_type":
            return _mend_mapping(given, path)
        case kind:
            return "write [a, b], or a line with '- ' for each item" if kind == "tuple_type" else ""


def _mend_mapping(given: object, path: Path) -> str:
    if not path:
        return "start with keys such as 'name: ml-training'"
    return "write names as keys, without '-'" if isinstance(given, list) else ""


def _mend_boolean(text: str) -> str:
    if text.casefold() in _YAML_1_1_BOOLEANS:
        return "yes, no, on and off are texts in YAML 1.2: write true or false"
    return f"write {text.casefold()}, without quotes" if text.casefold() in {"true", "false"} else ""


def _mend_number(text: str) -> str:
    digits = text.removesuffix("%").strip().removesuffix(".0")
    return f"write {digits}" if _DIGITS.fullmatch(digits) else ""


def _as_written(given: float, position: Position | None) -> str:
    if position is None or not position.text:
        return str(given)
    return position.text[position.column - 1 : position.column - 1 + position.length]


def _label(path: Path) -> str:
    if not path:
        return "the topology"
    last = path[-1]
    return described(last) if isinstance(last, str) else f"{_label(path[:-1])}, item {last + 1}"


def _error(error: ReadingError, message: str, mend: str, path: Path, position: Position | None) -> Finding:
    return Finding(error.value, Severity.ERROR, message, mend, path, position)
