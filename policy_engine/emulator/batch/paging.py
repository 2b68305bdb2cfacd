"""Pages of a list. A token says where the next page begins, and stays good when the list changes in between."""

import base64
import binascii
from collections.abc import Callable, Iterable
from itertools import dropwhile, islice
from typing import TypeVar

from moto.batch.exceptions import ClientException

from policy_engine.emulator.batch.validation import check_range

MAX_RESULTS = 100

Item = TypeVar("Item")


def page(
    items: Iterable[Item], number: Callable[[Item], int], max_results: int | None, token: str | None
) -> tuple[list[Item], str | None]:
    """A page of items that stand by ascending number, and the token of the next page. Raises ClientException.

    Items behind the page are not looked at, but for one.
    """
    if max_results is not None:
        check_range("maxResults", max_results, 1, MAX_RESULTS)
    size = max_results or MAX_RESULTS
    last = None if token is None else _read(token)
    rest = items if last is None else dropwhile(lambda item: number(item) <= last, items)
    found = list(islice(rest, size + 1))
    shown = found[:size]
    return shown, _write(number(shown[-1])) if len(found) > size else None


def _write(number: int) -> str:
    return base64.urlsafe_b64encode(f"after {number}".encode()).decode()


def _read(token: str) -> int:
    try:
        word, number = base64.urlsafe_b64decode(token).decode().split(" ")
        if word == "after":
            return int(number)
    except (ValueError, binascii.Error):
        pass
    raise ClientException("nextToken is not one that a list was answered with")
