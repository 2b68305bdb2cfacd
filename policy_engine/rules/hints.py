"""Did-you-mean for many words: looking for a similar one takes a while, and nobody reads a thousand hints."""

from collections.abc import Collection

from policy_engine.topology.suggestions import did_you_mean

_MOST = 20


class Hints:
    """What was meant by each of the first words that are asked for; for all further ones, what to do otherwise."""

    def __init__(self, known: Collection[str], otherwise: str) -> None:
        self._known = known
        self._otherwise = otherwise
        self._hints: dict[str, str] = {}

    def about(self, word: str) -> str:
        """`did you mean 'ml.g5.xlarge'?`, or what to do otherwise."""
        if word not in self._hints and len(self._hints) < _MOST:
            self._hints[word] = did_you_mean(word, self._known, self._otherwise)
        return self._hints.get(word, self._otherwise)
