"""Did-you-mean: the known word that a wrong one was most likely meant to be."""

from collections.abc import Iterable

_CUTOFF = 0.6


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word nearest to this one, or None if none is near. Case and `-` for `_` count little."""
    from difflib import get_close_matches  # here: `batch-quota validate` has to be quick when there is nothing to mend

    by_form = {_form(candidate): candidate for candidate in known}
    near = get_close_matches(_form(word), by_form, n=1, cutoff=_CUTOFF)
    return by_form[near[0]] if near else None


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`did you mean 'capacity'?`, or `otherwise` if nothing known is near."""
    near = closest(word, known)
    return otherwise if near is None else f"did you mean '{near}'?"


def _form(word: str) -> str:
    return word.casefold().replace("-", "_")
