"""What the constructs refuse: every problem at once, with the path of the construct that it would have made."""

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from math import isfinite

from aws_cdk import Token
from constructs import Construct

from policy_engine.topology.instance_types import training_instance_types
from policy_engine.topology.service_limits import (
    MAX_CAPACITY_LIMITS,
    MAX_NAME_LENGTH,
    MAX_TAG_KEY_LENGTH,
    MAX_TAG_VALUE_LENGTH,
    MAX_TAGS,
    NAME_CHARACTERS,
)
from policy_engine.topology.suggestions import did_you_mean

NAME_PATTERN = f"[{NAME_CHARACTERS}]{{1,{MAX_NAME_LENGTH}}}"
_NAME = re.compile(NAME_PATTERN)


def require(scope: Construct, id_: str, *problems: Iterable[str]) -> None:
    """Raise ValueError with the construct's path and all problems, if there is one."""
    found = [problem for group in problems for problem in group]
    if found:
        path = "/".join(part for part in (scope.node.path, id_) if part)
        raise ValueError("\n  - ".join([f"{path} is not valid:", *found]))


def is_token(value: object) -> bool:
    """Whether a value is only known at deployment, so that nothing can be said about it now."""
    if isinstance(value, str):
        # Asking jsii costs a round trip to Node; a string token always has this mark.
        return "${Token[" in value
    if isinstance(value, float):
        # jsii cannot carry numbers that JSON has no word for.
        return isfinite(value) and Token.is_unresolved(value)
    return not isinstance(value, int) and Token.is_unresolved(value)


def resource_problems(prop: str, given: object, attribute: str, importer: str) -> Iterator[str]:
    """What stands for another resource must have its ARN, which L1 constructs and texts have not.

    :param attribute: Of all that may be given, such as `job_queue_arn`.
    :param importer: What makes such a thing of an ARN.
    """
    if not hasattr(given, attribute):
        yield f"{prop}: a {type(given).__name__} has no {attribute}; take the ARN by {importer}(scope, id, ARN)"


def name_problems(prop: str, name: str | None) -> Iterator[str]:
    """A name of a Batch resource: 1 to 128 letters, digits, hyphens and underscores (AWS Batch API reference)."""
    if name is not None and not is_token(name) and not (isinstance(name, str) and _NAME.fullmatch(name)):
        yield f"{prop}: expected 1 to 128 letters, digits, hyphens and underscores, not {name!r}"


def capacity_problems(prop: str, limits: Mapping[str, float]) -> Iterator[str]:
    """Capacity limits under quota management: 1 to 5 SageMaker instance types, each with a whole number from 1 up.

    Source: AWS Batch user guide, quota shares and service limits.
    """
    if not isinstance(limits, Mapping):
        yield f"{prop}: expected numbers by instance type, such as {{'ml.g5.xlarge': 4}}, not {limits!r}"
        return
    if not 1 <= len(limits) <= MAX_CAPACITY_LIMITS:
        yield f"{prop}: expected 1 to {MAX_CAPACITY_LIMITS} instance types, not {len(limits)}"
    for unit, limit in limits.items():
        if unit == "NUM_INSTANCES":
            yield f"{prop}: NUM_INSTANCES counts all types together; quota management needs instance types"
        elif not is_token(unit) and unit not in training_instance_types():
            hint = did_you_mean(unit, training_instance_types(), "botocore may be too old to know it")
            yield f"{prop}: {unit!r} is no instance type of SageMaker Training; {hint}"
        yield from whole_number_problems(f"{prop}: {unit}", limit, lowest=1)


def whole_number_problems(prop: str, value: float, *, lowest: int, highest: int | None = None) -> Iterator[str]:
    """A whole number within bounds, both included."""
    if is_token(value):
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or value < lowest or (highest is not None and value > highest):
        bounds = f"from {lowest} up" if highest is None else f"from {lowest} to {highest}"
        yield f"{prop}: expected a whole number {bounds}, not {value!r}"


def choice_problems(prop: str, value: str, choices: type[StrEnum]) -> Iterator[str]:
    """One of the words that AWS takes, exactly as AWS writes it."""
    words = [str(choice) for choice in choices]
    if is_token(value) or value in words:
        return
    expected = words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
    yield f"{prop}: expected {expected}, not {value!r}; {did_you_mean(value, words)}".removesuffix("; ")


def tag_problems(tags: Mapping[str, str] | None) -> Iterator[str]:
    """Tags within AWS's limits: 50 a resource, keys of 1 to 128 and values of up to 256 characters, no `aws:` keys."""
    if tags is None:
        return
    if len(tags) > MAX_TAGS:
        yield f"tags: expected at most {MAX_TAGS}, not {len(tags)}"
    for key, value in tags.items():
        if not is_token(key) and not 1 <= len(key) <= MAX_TAG_KEY_LENGTH:
            yield f"tags: expected a key of 1 to {MAX_TAG_KEY_LENGTH} characters, not {len(key)}: {key[:20]!r}"
        if key.lower().startswith("aws:"):
            yield f"tags: {key!r}: keys that start with aws: are reserved"
        if not is_token(value) and len(value) > MAX_TAG_VALUE_LENGTH:
            yield f"tags: {key!r}: expected a value of up to {MAX_TAG_VALUE_LENGTH} characters, not {len(value)}"
