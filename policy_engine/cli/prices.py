"""`batch-quota prices fetch`: what AWS lists for SageMaker Training, kept in a file."""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import click

from policy_engine.amounts import counted
from policy_engine.cli.failures import UNUSABLE, unusable_input
from policy_engine.cli.output_file import STDIO, opened, refuse_output
from policy_engine.pricing import prices_text

if TYPE_CHECKING:
    from policy_engine.pricing import Prices
    from policy_engine.pricing.fetching import PricingClient


@click.group("prices", no_args_is_help=True)
def command() -> None:
    """Get prices of instances for `replay --prices` and `compare --prices`."""


@command.command("fetch", no_args_is_help=True)
@click.option("--region", required=True, metavar="REGION", help="Region whose prices they are, such as us-east-1.")
@click.option("--profile", metavar="NAME", help="Profile of AWS's configuration files whose credentials are used.")
@click.option(
    "output", "-o", "--output", type=click.Path(allow_dash=True), help="File to write; standard output if left out."
)
@click.option("--force", is_flag=True, help="Overwrite the output.")
def fetch(*, region: str, profile: str | None, output: str | None, force: bool) -> None:
    """Fetch on-demand prices of SageMaker Training from AWS's price list, which takes some seconds.

    Credentials come from where AWS's own tools take them. They need pricing:GetProducts, and nothing else. What AWS
    lists is not what you pay if you have an agreement, a training plan or a Savings Plan: edit the file then.

    \b
    Example:
      batch-quota prices fetch --region us-east-1 -o prices.yaml
    """  # noqa: D301 (click takes \b as: keep these lines as they are)
    with unusable_input():
        refuse_output(output, force=force)
        found = _fetched(region, profile)
        text = prices_text(found)
        with opened(output, force=force) as file:
            if file is None:
                click.echo(text, nl=False)
            else:
                file.write(text.encode())
    if output not in {None, STDIO}:
        click.echo(f"prices of {counted(len(found.per_hour), 'instance type')} written to {output}", err=True)


def _fetched(region: str, profile: str | None) -> "Prices":
    """The prices. Says what went wrong on the way to them, and exits."""
    from botocore.exceptions import BotoCoreError, ClientError

    from policy_engine.pricing.fetching import PriceListError, fetch_prices

    today = datetime.now(tz=UTC).date()
    try:
        client = pricing_client(region, profile)
        if sys.stderr.isatty():
            click.echo(f"reading what AWS lists for SageMaker in {region}", err=True)
        return fetch_prices(client, region, today=today)
    except (BotoCoreError, ClientError, PriceListError) as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(UNUSABLE)


def pricing_client(region: str, profile: str | None) -> "PricingClient":
    """The client of botocore, which is that of boto3, at an endpoint that has the Region's prices."""
    import botocore.session

    from policy_engine.pricing.fetching import endpoint_region

    session = botocore.session.Session(profile=profile)
    return cast("PricingClient", session.create_client("pricing", region_name=endpoint_region(region)))
