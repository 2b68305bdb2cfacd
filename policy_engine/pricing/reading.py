"""Reads prices from YAML or JSON: all that is wrong with a file at once, each at its place."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from math import isfinite
from os import PathLike

from policy_engine.diagnostics import Finding, InputError, Severity, described
from policy_engine.pricing.prices import Prices
from policy_engine.topology.document import Data, Document, read_document
from policy_engine.topology.document.decoding import decoded
from policy_engine.topology.document.dialect import Dialect
from policy_engine.topology.document.opening import content_of
from policy_engine.topology.document.reporting import Report
from policy_engine.topology.reading_errors import ReadingError
from policy_engine.topology.source import Path
from policy_engine.topology.suggestions import did_you_mean

PRICES = Dialect(
    noun="price list",
    first_keys="currency, region, date and prices",
    max_bytes=256 * 1024,
    max_depth=8,
    max_nodes=20_000,
)
_KEYS = {
    "currency": "three letters, such as USD",
    "region": "the Region that the prices are for, such as us-east-1",
    "date": "when they were valid, such as 2026-11-30",
    "prices": "the price of an instance and hour, by instance type",
}
_SOURCE = "source"
_CURRENCY = re.compile(r"[A-Z]{3}")
_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-[0-9]+")
_SAGEMAKER = "ml."


def read_prices(path: str | PathLike[str]) -> Prices:
    """Read the prices in a YAML or JSON file; `-` is standard input.

    Raises InputError with everything that is wrong with the file, by position.
    """
    return parse_prices(*content_of(path, PRICES))


def parse_prices(content: bytes | str, file: str = "<text>") -> Prices:
    """Read prices from YAML or JSON text. `file` names it in findings. Raises InputError, as `read_prices` does."""
    report = Report(file, decoded(content, file, PRICES), PRICES)
    document = read_document(report)
    found = None if document is None else _Reading(document)
    findings = [*report.findings, *(found.findings if found else ())]
    if findings or found is None:
        raise InputError(sorted(findings, key=_by_position))
    return found.prices()


class _Reading:
    """A document's values, and what is wrong with them."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._data: Mapping[str, Data] = document.data if isinstance(document.data, dict) else {}
        self.findings = tuple(self._findings())

    def prices(self) -> Prices:
        """What a document without findings says."""
        data, prices = self._data, self._data["prices"]
        per_hour = {unit: float(str(price)) for unit, price in prices.items()} if isinstance(prices, dict) else {}
        return Prices(
            currency=str(data["currency"]),
            region=str(data["region"]),
            date=date.fromisoformat(str(data["date"])),
            per_hour=per_hour,
            source=str(data.get(_SOURCE, "")),
        )

    def _findings(self) -> Iterator[Finding]:
        if not isinstance(self._document.data, dict):
            message = f"expected a mapping, not {described(self._document.data)}"
            yield self._error(ReadingError.WRONG_VALUE, message, "start with keys such as 'currency: USD'", ())
            return
        for key, meaning in _KEYS.items():
            if key not in self._data:
                yield self._error(ReadingError.MISSING_KEY, f"the price list has no {key!r}", f"{key}: {meaning}", ())
        for key, value in self._data.items():
            if (key,) not in self._document.refused:
                yield from self._of_key(key, value)

    def _of_key(self, key: str, value: Data) -> Iterator[Finding]:
        known = (*_KEYS, _SOURCE)
        if key not in known:
            message, mend = f"a price list has no key {described(key)}", did_you_mean(key, known, ", ".join(known))
            position = self._document.sources.key_position((key,))
            yield Finding(ReadingError.UNKNOWN_KEY.value, Severity.ERROR, message, mend, (key,), position)
        elif key == "prices":
            yield from self._of_prices(value)
        elif not isinstance(value, str) or not _is_good(key, value):
            message = f"{key!r}: expected {_KEYS.get(key, 'a text')}, not {described(value)}"
            yield self._error(ReadingError.WRONG_VALUE, message, "", (key,))

    def _of_prices(self, prices: Data) -> Iterator[Finding]:
        if not isinstance(prices, dict) or not prices:
            message = f"'prices': expected {_KEYS['prices']}, not {described(prices) if prices else 'nothing'}"
            yield self._error(ReadingError.WRONG_VALUE, message, "ml.g5.xlarge: 1.41", ("prices",))
            return
        for unit, price in prices.items():
            path = ("prices", unit)
            if path in self._document.refused:
                continue
            if not unit.startswith(_SAGEMAKER):
                message = f"{described(unit)} is no SageMaker instance type"
                position = self._document.sources.key_position(path)
                mend = f"write {_SAGEMAKER}{unit}, with what SageMaker Training asks for it"
                yield Finding(ReadingError.WRONG_VALUE.value, Severity.ERROR, message, mend, path, position)
            elif isinstance(price, bool) or not isinstance(price, int | float) or not isfinite(price) or price < 0:
                message = f"{unit!r}: expected a number that is not negative, not {described(price)}"
                yield self._error(ReadingError.WRONG_VALUE, message, "", path)

    def _error(self, error: ReadingError, message: str, mend: str, path: Path) -> Finding:
        return Finding(error.value, Severity.ERROR, message, mend, path, self._document.sources.position(path))


def _is_good(key: str, text: str) -> bool:
    match key:
        case "currency":
            return _CURRENCY.fullmatch(text) is not None
        case "region":
            return _REGION.fullmatch(text) is not None
        case "date":
            return _is_date(text)
        case _:
            return True


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _by_position(finding: Finding) -> tuple[int, int]:
    return (finding.position.line, finding.position.column) if finding.position else (0, 0)
