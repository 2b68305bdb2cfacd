"""The parser's syntax errors in the words of somebody who writes topologies."""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass

from ruamel.yaml.error import MarkedYAMLError, StreamMark

from policy_engine.topology.source import Span, lines_of

Explanation = tuple[str, Span, str]
"""What is wrong, where, and how to mend it."""


@dataclass(frozen=True, slots=True)
class _Known:
    """A family of the parser's errors."""

    problem: re.Pattern[str]
    context: str
    explain: Callable[[re.Match[str], "_Place"], Explanation]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the parser stumbled, and where the thing that it was reading starts."""

    here: Span
    start: Span
    noun: str
    """What a document of this kind is called."""

    @property
    def opened(self) -> str:
        return f"line {self.start.line}, column {self.start.column}"


_LONG_ESCAPE = re.compile(r"\\U([0-9a-fA-F]{8})")
_TOKENS = {
    "<stream end>": "the end of the file",
    "<document start>": "a new document",
    "<document end>": "the end of the document",
    "<scalar>": "a text",
    "<alias>": "an alias",
    "<anchor>": "an anchor",
    "<tag>": "a tag",
    "?": "a key",
}


def _tab(_: re.Match[str], place: _Place) -> Explanation:
    return "a tab stands where only spaces may stand", place.here, "indent with spaces, and put a space after ':'"


def _reserved(match: re.Match[str], place: _Place) -> Explanation:
    character = match[1]
    return f"a text cannot start with {character}", place.here, f'put the text in quotes: "{character}…"'


def _colon(_: re.Match[str], place: _Place) -> Explanation:
    return (
        "a ':' is not expected here",
        place.here,
        "indent a key like the others of its mapping; put a text that holds ': ' in quotes",
    )


def _unclosed_quote(_: re.Match[str], place: _Place) -> Explanation:
    return "the quote that opens here is never closed", place.start, "close it on the same line"


def _unclosed_bracket(match: re.Match[str], place: _Place) -> Explanation:
    bracket, found = match[1], match[2]
    opening = {"]": "[", "}": "{"}[bracket]
    message = f"expected ',' or '{bracket}', not {_TOKENS.get(found, repr(found))}"
    return message, place.here, f"the '{opening}' of {place.opened} is still open"


def _indentation(_: re.Match[str], place: _Place) -> Explanation:
    return (
        "the indentation fits none of the lines above",
        place.here,
        f"indent keys of one mapping alike; the one that this line seems to belong to starts at {place.opened}",
    )


def _no_colon(_: re.Match[str], place: _Place) -> Explanation:
    return "expected 'key: value'", place.start, "add ':' and a space after the key"


def _escape(match: re.Match[str], place: _Place) -> Explanation:
    message = f"'\\{match[1]}' is no escape sequence"
    return message, place.here, "write \\\\ for a backslash, or use single quotes"


def _dash(_: re.Match[str], place: _Place) -> Explanation:
    return "a list item cannot start here", place.here, "start each '- ' on a line of its own, or write [a, b]"


def _nothing(match: re.Match[str], place: _Place) -> Explanation:
    return (
        f"expected a value, not {_TOKENS.get(match[1], repr(match[1]))}",
        place.here,
        "remove it, or put a value before it",
    )


def _rest(match: re.Match[str], place: _Place) -> Explanation:
    return "expected the end of the document", place.here, f"a {place.noun} is one mapping of keys to values"


_KNOWN = (
    _Known(re.compile(r"found character '\\t'"), "", _tab),
    _Known(re.compile(r"found character '(.)' that cannot start any token"), "", _reserved),
    _Known(re.compile(r"mapping values are not allowed"), "", _colon),
    _Known(re.compile(r"found unexpected (?:end of stream|document separator)"), "quoted scalar", _unclosed_quote),
    _Known(re.compile(r"expected ',' or '(.)', but got '(.*)'"), "", _unclosed_bracket),
    _Known(re.compile(r"expected the node content, but found '(.*)'"), "", _nothing),
    _Known(re.compile(r"expected <block end>, but found '([,\]}])'"), "", _nothing),
    _Known(re.compile(r"expected <block end>"), "", _indentation),
    _Known(re.compile(r"could not find expected ':'"), "", _no_colon),
    _Known(re.compile(r"found unknown escape character '(.)'"), "", _escape),
    _Known(re.compile(r"sequence entries are not allowed"), "", _dash),
    _Known(re.compile(r"expected '<document start>'"), "", _rest),
)


def explain_syntax_error(error: MarkedYAMLError, noun: str) -> Explanation:
    """What is wrong, where, and how to mend it. The parser's own words for what is not known here.

    `noun` is what a document of this kind is called.
    """
    here = _span(error.problem_mark or error.context_mark)
    place = _Place(here, _span(error.context_mark) if error.context_mark else here, noun)
    problem = error.problem or error.context or "this is no YAML"
    for known in _KNOWN:
        match = known.problem.match(problem)
        if match and known.context in (error.context or ""):
            return known.explain(match, place)
    return problem, here, ""


def explain_impossible_escape(text: str) -> Explanation:
    """For the one thing that the parser hands on to Python unseen: an escaped code point that does not exist."""
    for number, line in enumerate(lines_of(text), 1):
        for escape in _LONG_ESCAPE.finditer(line):
            if int(escape[1], 16) > sys.maxunicode:
                span = Span(number, escape.start() + 1, len(escape[0]))
                return f"there is no character {escape[0]}", span, "write the character itself"
    return "there is an escape of no character", Span(1, 1), "write the character itself"


def _span(mark: StreamMark | None) -> Span:
    return Span(1, 1) if mark is None else Span(mark.line + 1, mark.column + 1)
