"""Options of the form `NAME=VALUE`, given once for each name."""

from collections.abc import Callable, Mapping

import click
from click.decorators import FC

Pair = tuple[str, str]


class PairType(click.ParamType[Pair]):
    """`NAME=VALUE`. With `last`, the last `=` is the separator, so that names may contain one."""

    def __init__(self, name: str, *, last: bool = False) -> None:
        self.name = name
        self._last = last

    def convert(self, value: str | Pair, param: click.Parameter | None, ctx: click.Context | None) -> Pair:
        """Split, or fail with what is expected."""
        if isinstance(value, tuple):
            return value
        left, separator, right = value.rpartition("=") if self._last else value.partition("=")
        if not separator or not left or not right:
            self.fail(f"expected {self.name}, not {value!r}", param, ctx)
        return left, right


def as_mapping(_ctx: click.Context, param: click.Parameter, pairs: tuple[Pair, ...]) -> Mapping[str, str]:
    """A mapping of the pairs of one option. Fails if a name is given twice."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise click.BadParameter(f"{twice} is given twice", param=param)
    return mapping


def pair_option(flag: str, name: str, metavar: str, help_: str, *, last: bool = False) -> Callable[[FC], FC]:
    """An option that is a mapping."""
    type_ = PairType(metavar, last=last)
    return click.option(name, flag, type=type_, metavar=metavar, multiple=True, callback=as_mapping, help=help_)
