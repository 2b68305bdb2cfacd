"""Names of AWS Batch resources."""

import re

from policy_engine.topology.service_limits import MAX_NAME_LENGTH, NAME_CHARACTERS

_ALLOWED = re.compile(f"[{NAME_CHARACTERS}]*")
_REFUSED = re.compile(f"[^{NAME_CHARACTERS}]+")


def has_refused_characters(name: str) -> bool:
    """Whether a name has other characters than letters, digits, hyphens and underscores."""
    return _ALLOWED.fullmatch(name) is None


def renaming_help(name: str) -> str:
    """How to mend a name with characters that AWS refuses, with a suggestion if something of it is left."""
    kept = _REFUSED.sub("-", name[:MAX_NAME_LENGTH]).strip("-")
    return f"use letters, digits, '-' and '_' only{f', as in {kept}' if len(kept) > 1 else ''}"
