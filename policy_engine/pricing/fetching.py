"""Prices from AWS's price list, by GetProducts of the AWS Price List Query API.

Training is told from SageMaker's other uses of an instance by the usage type, such as `USE1-Train:ml.g5.xlarge`: its
prices differ from those of notebooks, endpoints and clusters.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Protocol

from policy_engine.pricing.prices import Prices

SERVICE_CODE = "AmazonSageMaker"
_PER_PAGE = 100
_TRAINING = re.compile(r"(?:[A-Z0-9]+-)?Train:(ml\.[a-z0-9-]+\.[a-z0-9-]+)")
_HOURS = "Hrs"


class PriceListError(Exception):
    """The price list does not say what was asked for."""


class Paginator(Protocol):
    """What is used of botocore's paginator."""

    def paginate(self, **arguments: object) -> Iterable[Mapping[str, Sequence[str]]]:
        """The pages of an operation's answers."""


class PricingClient(Protocol):
    """What is used of a boto3 or botocore client of `pricing`."""

    def get_paginator(self, operation_name: str) -> Paginator:
        """The paginator of an operation."""


def endpoint_region(region: str) -> str:
    """Where the price list of a Region's partition can be asked: it has its own endpoints, in few Regions."""
    return "cn-northwest-1" if region.startswith("cn-") else "us-east-1"


def fetch_prices(client: PricingClient, region: str, *, today: date) -> Prices:
    """On-demand prices of SageMaker Training in a Region. Needs `pricing:GetProducts`.

    Raises PriceListError if there are none for the Region, or two for an instance type; and what the client raises.
    """
    filters = [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": region}]
    pages = client.get_paginator("get_products").paginate(
        ServiceCode=SERVICE_CODE, Filters=filters, FormatVersion="aws_v1", PaginationConfig={"PageSize": _PER_PAGE}
    )
    found: dict[str, float] = {}
    currencies: set[str] = set()
    published: set[str] = set()
    for page in pages:
        for text in page["PriceList"]:
            product = json.loads(text)
            for unit, currency, price in _hourly(product):
                if found.setdefault(unit, price) != price:
                    raise PriceListError(f"AWS lists {found[unit]} and {price} for {unit} in {region}")
                currencies.add(currency)
                published.add(str(product.get("publicationDate", ""))[:10])
    if not found:
        raise PriceListError(f"AWS lists no prices of SageMaker Training in {region}: is that a Region's name?")
    if len(currencies) > 1:
        raise PriceListError(f"AWS lists prices in {region} in several currencies: {', '.join(sorted(currencies))}")
    source = f"AWS Price List of {SERVICE_CODE}, on demand, published {max(published)}"
    return Prices(currency=currencies.pop(), region=region, date=today, per_hour=found, source=source)


def _hourly(product: Mapping[str, Mapping[str, Mapping[str, object]]]) -> Iterator[tuple[str, str, float]]:
    """The instance type, currency and hourly price of a product, if it is of SageMaker Training."""
    match = _TRAINING.fullmatch(str(product["product"]["attributes"].get("usagetype", "")))
    if match is None:
        return
    for term in _mappings(product["terms"].get("OnDemand", {})):
        for dimension in _mappings(term.get("priceDimensions")):
            amounts = dimension.get("pricePerUnit")
            if dimension.get("unit") != _HOURS or not isinstance(amounts, dict):
                continue
            for currency, amount in amounts.items():
                if float(amount):
                    yield match[1], currency, float(amount)


def _mappings(of_keys: object) -> Iterator[Mapping[str, object]]:
    if isinstance(of_keys, Mapping):
        yield from (value for value in of_keys.values() if isinstance(value, Mapping))
