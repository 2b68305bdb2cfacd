"""All rules, found by walking the package: a new rule is a new file, and nothing else."""

import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from inspect import isabstract
from types import MappingProxyType, ModuleType

from policy_engine.rules import access, change, consistency, risk, service_limits
from policy_engine.rules.kinds import Rule

SERIES: Mapping[str, ModuleType] = MappingProxyType(
    {"QM1": service_limits, "QM2": consistency, "QM3": risk, "QM4": change, "QM6": access}
)
"""The packages of the rules by the start of their ids."""


@cache
def registry() -> Mapping[str, Rule]:
    """Every rule by its id, in the order of the ids.

    Raises RuntimeError if two rules have one id.
    """
    rules: dict[str, Rule] = {}
    for found in (rule for package in SERIES.values() for rule in _rules_in(package)):
        if found.id in rules:
            raise RuntimeError(f"{type(found).__name__} and {type(rules[found.id]).__name__} both have id {found.id}")
        rules[found.id] = found
    return MappingProxyType(dict(sorted(rules.items())))


def rule(rule_id: str) -> Rule:
    """The rule with this id. Raises KeyError if there is none."""
    return registry()[rule_id]


def _rules_in(package: ModuleType) -> Iterator[Rule]:
    for module in pkgutil.iter_modules(package.__path__, prefix=f"{package.__name__}."):
        for member in vars(import_module(module.name)).values():
            defined_here = isinstance(member, type) and member.__module__ == module.name
            if defined_here and issubclass(member, Rule) and not isabstract(member):
                yield member()
