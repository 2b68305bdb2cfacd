"""The `--prices FILE` option: what instances cost."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.decorators import FC

if TYPE_CHECKING:
    from policy_engine.pricing import Prices

prices_option: Callable[[FC], FC] = click.option(
    "prices_path",
    "--prices",
    type=click.Path(allow_dash=True),
    help="Prices of instances, YAML or JSON. Without, amounts are in instance-hours and GPU-hours.",
)


def read_given_prices(path: str | None, units: Iterable[str]) -> "Prices | None":
    """The prices of a file. Says for which of these instance types there is none. Raises InputError."""
    if path is None:
        return None
    from policy_engine.pricing import read_prices

    prices = read_prices(path)
    missing = [unit for unit in units if unit not in prices.per_hour]
    if missing:
        click.echo(f"{path} has no price of {', '.join(missing)}: what they cost is not known", err=True)
    return prices
