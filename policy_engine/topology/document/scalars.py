"""What a plain scalar stands for by YAML 1.2's core schema."""

import re

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL_CHARACTER = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_LONGEST_NUMBER = 18
"""Digits of a number that surely fits 64 bits."""


class ScalarError(ValueError):
    """A scalar that readers disagree about, or that cannot be meant."""

    def __init__(self, message: str, help_text: str) -> None:
        self.message = message
        self.help = help_text
        super().__init__(message)


def core_schema_value(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar. Raises ScalarError for `0755` and for numbers beyond 64 bits."""
    if text in _NULL:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _DECIMAL.fullmatch(text):
        return _decimal(text)
    for pattern, base in ((_OCTAL, 8), (_HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            _refuse_long(text)
            return int(text[2:], base)
    if _NOT_FINITE.fullmatch(text):
        return float(text.replace(".", "", 1))
    return float(text) if _FLOAT.fullmatch(text) else text


def readable_text(text: str) -> str:
    """A text with JSON's escaped surrogate pairs joined. Raises ScalarError for half a pair or a control character."""
    if _SURROGATE.search(text):
        try:
            text = text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            raise ScalarError("the text has half of a surrogate pair", "write the character itself") from None
    control = _CONTROL_CHARACTER.search(text)
    if control:
        raise ScalarError(f"the text has the control character U+{ord(control[0]):04X}", "remove it")
    return text


def _decimal(text: str) -> int:
    if _LEADING_ZERO.fullmatch(text):
        digits = text.lstrip("+-").lstrip("0") or "0"
        raise ScalarError(
            f"{text[:_LONGEST_NUMBER]} is octal to some readers and decimal to others",
            f"write {digits[:_LONGEST_NUMBER]} for the number, or quotes around it for a text",
        )
    _refuse_long(text)
    return int(text)


def _refuse_long(text: str) -> None:
    if len(text) > _LONGEST_NUMBER:
        raise ScalarError(f"the number {text[:_LONGEST_NUMBER]}… is too large", "put it in quotes if it is a text")
