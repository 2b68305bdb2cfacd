"""Values of properties as a topology takes them, and what is said about those that it cannot take."""

import re

from policy_engine.diagnostics import Severity, described
from policy_engine.template.nodes import Node, Pieces, Reference, Text, Unknown
from policy_engine.template.problems import TemplateProblem, at
from policy_engine.template.resources import Place
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.suggestions import did_you_mean

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]{0,9})")
_LARGEST = 2**31 - 1


class PropertyValues:
    """Takes values from nodes. What is no such value, or not known, becomes a problem, and the answer is None."""

    def __init__(self) -> None:
        self.problems: list[TemplateProblem] = []

    def problem(
        self, error: ReadingError, message: str, mend: str, place: Place, severity: Severity = Severity.ERROR
    ) -> None:
        """Note a problem."""
        self.problems.append(TemplateProblem(error, message, mend, place, severity))

    def list_of(self, node: Node, label: str) -> tuple[Node, ...]:
        """The items of a list; none, after a problem, if it is no list."""
        if not isinstance(node.value, tuple):
            self._not_known(node, label, "a list")
        return node.items()

    def required(self, node: Node, key: str) -> Node:
        """The value of a key. If it is missing, null, after a problem."""
        found = node.get(key)
        if found is not None:
            return found
        if _unknown_in(node) is not None:
            self._not_known(node, key, "a value")
        else:
            self.problem(ReadingError.MISSING_KEY, f"{described(key)} is missing", "", at(node))
        return Node(None, node.template, node.path)

    def text(self, node: Node, key: str) -> str | None:
        """The text of a key."""
        found = self.required(node, key)
        return None if found.value is None else self.known_text(found, key)

    def known_text(self, node: Node, label: str) -> str | None:
        """A text, or a number as a text."""
        if isinstance(node.value, str):
            return node.value
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return str(node.value)
        self._not_known(node, label, "a text")
        return None

    def choice(self, node: Node, key: str, words: list[str]) -> str | None:
        """The word of a key, one of several."""
        found = self.required(node, key)
        return None if found.value is None else self.chosen(found, key, words)

    def chosen(self, node: Node, label: str, words: list[str]) -> str | None:
        """One of several words. CloudFormation's schema takes most of them in any case."""
        text = self.known_text(node, label)
        if text is None or text.upper() in words:
            return None if text is None else text.upper()
        expected = f"{', '.join(words[:-1])} or {words[-1]}"
        message = f"{described(label)}: expected {expected}, not {described(text)}"
        self.problem(ReadingError.WRONG_VALUE, message, did_you_mean(text, words), at(node))
        return None

    def whole(self, node: Node, label: str) -> int | None:
        """A whole number, also one that is written as a text, as CloudFormation takes it."""
        value = node.value
        if value is None:
            return None
        written = isinstance(value, str) and _WHOLE.fullmatch(value.strip())
        exact = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        number = int(value) if (written or exact) and isinstance(value, str | int | float) else None
        if number is None or abs(number) > _LARGEST:
            self._not_known(node, label, "a whole number")
            return None
        return number

    def _not_known(self, node: Node, label: str, expected: str) -> None:
        why = _unknown_in(node)
        if why is None:
            message = f"{described(label)}: expected {expected}, not {_shown(node)}"
            self.problem(ReadingError.WRONG_VALUE, message, "", at(node))
        else:
            message = f"{described(label)} is not known before deployment: {why.why}"
            self.problem(ReadingError.UNKNOWN_UNTIL_DEPLOYMENT, message, why.help, at(node))


def _unknown_in(node: Node) -> Unknown | None:
    """Why a value is not known, if only deployment decides it."""
    match node.value:
        case Unknown() as unknown:
            return unknown
        case Text(parts=parts):
            unknown_parts = [part for part in parts if isinstance(part, Unknown)]
            return unknown_parts[0] if unknown_parts else Unknown("it is made of attributes of other resources")
        case Reference(resource=resource) | Pieces(of=Reference(resource=resource)):
            return Unknown(f"it comes from the resource {described(resource.logical_id)}")
        case _:
            return None


def _shown(node: Node) -> str:
    match node.value:
        case str() | int() | float() | None as value:
            return described(value)
        case tuple():
            return "a list"
        case _:
            return "a mapping"
