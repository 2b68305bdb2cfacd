"""Prices from AWS's price list: through botocore's own client, with answers of the form that AWS gives."""

import json
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import botocore.session
import pytest
from botocore.stub import Stubber
from click.testing import CliRunner, Result

from policy_engine.cli import main, prices
from policy_engine.pricing import parse_prices, prices_text, read_prices
from policy_engine.pricing.fetching import PriceListError, endpoint_region, fetch_prices

TODAY = date(2026, 12, 1)


def product(
    usage_type: str, amount: str, *, currency: str = "USD", unit: str = "Hrs", family: str = "ML Instance"
) -> str:
    """A product as the price list has it: JSON in a text."""
    sku, offer, rate = "ABCDEFGHIJKLMNOP", "JRTCKXETXF", "6YS6EN2CT7"
    name = usage_type.partition(":")[2]
    dimension = {
        "unit": unit,
        "endRange": "Inf",
        "description": f"${amount} per {name} hour in US East (N. Virginia)",
        "appliesTo": [],
        "rateCode": f"{sku}.{offer}.{rate}",
        "beginRange": "0",
        "pricePerUnit": {currency: amount},
    }
    term = {
        "priceDimensions": {f"{sku}.{offer}.{rate}": dimension},
        "sku": sku,
        "effectiveDate": "2026-11-01T00:00:00Z",
        "offerTermCode": offer,
        "termAttributes": {},
    }
    attributes = {
        "regionCode": "us-east-1",
        "servicecode": "AmazonSageMaker",
        "instanceName": name,
        "usagetype": usage_type,
        "locationType": "AWS Region",
        "location": "US East (N. Virginia)",
        "servicename": "Amazon SageMaker",
        "operation": "RunInstance",
    }
    document = {
        "product": {"productFamily": family, "attributes": attributes, "sku": sku},
        "serviceCode": "AmazonSageMaker",
        "terms": {"OnDemand": {f"{sku}.{offer}": term}},
        "version": "20261120173203",
        "publicationDate": "2026-11-20T17:32:03Z",
    }
    return json.dumps(document)


PAGES = [
    [
        product("USE1-Train:ml.g5.xlarge", "1.4080000000"),
        product("USE1-Host:ml.g5.xlarge", "1.4090000000"),
        product("USE1-Notebk:ml.g5.xlarge", "1.5000000000"),
        product("USE1-Cluster:ml.g5.xlarge", "1.6000000000"),
    ],
    [
        product("USE1-Train:ml.p5.48xlarge", "63.2960000000"),
        product("USE1-Train:ml.p6-b200.48xlarge", "0.0000000000"),
        product("USE1-Train:VolumeUsage.gp2", "0.1400000000", unit="GB-Mo", family="ML Storage"),
        product("USE1-SpotTrain:ml.g5.xlarge", "0.4000000000"),
    ],
]


@pytest.fixture
def stubbed() -> Iterator[tuple[object, Stubber]]:
    session = botocore.session.Session()
    session.set_credentials("id", "secret")
    client = session.create_client("pricing", region_name="us-east-1")
    with Stubber(client) as stubber:
        yield client, stubber
        stubber.assert_no_pending_responses()


def answer(stubber: Stubber, pages: list[list[str]], region: str = "us-east-1") -> None:
    """What AWS answers to the requests that are expected, page by page."""
    request = {
        "ServiceCode": "AmazonSageMaker",
        "Filters": [{"Type": "TERM_MATCH", "Field": "regionCode", "Value": region}],
        "FormatVersion": "aws_v1",
        "MaxResults": 100,
    }
    for number, page in enumerate(pages):
        more = {"NextToken": f"page-{number + 1}"} if number + 1 < len(pages) else {}
        asked = {**request, **({"NextToken": f"page-{number}"} if number else {})}
        stubber.add_response("get_products", {"FormatVersion": "aws_v1", "PriceList": page, **more}, asked)


def test_training_is_told_from_other_uses_of_an_instance_page_by_page(stubbed: tuple[object, Stubber]):
    client, stubber = stubbed
    answer(stubber, PAGES)
    found = fetch_prices(client, "us-east-1", today=TODAY)
    assert found.per_hour == {"ml.g5.xlarge": 1.408, "ml.p5.48xlarge": 63.296}
    assert (found.currency, found.region, found.date) == ("USD", "us-east-1", TODAY)
    assert found.source == "AWS Price List of AmazonSageMaker, on demand, published 2026-11-20"
    assert parse_prices(prices_text(found)) == found


def test_usage_types_of_us_east_1_may_have_no_prefix(stubbed: tuple[object, Stubber]):
    client, stubber = stubbed
    answer(stubber, [[product("Train:ml.m5.large", "0.115")]])
    assert fetch_prices(client, "us-east-1", today=TODAY).per_hour == {"ml.m5.large": 0.115}


def test_china_has_its_own_currency_and_endpoint(stubbed: tuple[object, Stubber]):
    client, stubber = stubbed
    answer(stubber, [[product("CNN1-Train:ml.m5.large", "0.9", currency="CNY")]], "cn-north-1")
    assert fetch_prices(client, "cn-north-1", today=TODAY).currency == "CNY"
    assert [endpoint_region(region) for region in ("cn-north-1", "eu-west-1")] == ["cn-northwest-1", "us-east-1"]


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ([], "no prices of SageMaker Training in us-east-1"),
        (
            [product("USE1-Train:ml.m5.large", "1"), product("USE1-Train:ml.m5.large", "2")],
            "lists 1.0 and 2.0 for ml.m5.large",
        ),
        (
            [product("USE1-Train:ml.m5.large", "1"), product("USE1-Train:ml.c5.large", "2", currency="EUR")],
            "in several currencies: EUR, USD",
        ),
    ],
)
def test_a_list_that_does_not_say_what_is_asked_is_refused(
    stubbed: tuple[object, Stubber], page: list[str], message: str
):
    client, stubber = stubbed
    answer(stubber, [page])
    with pytest.raises(PriceListError, match=re.escape(message)):
        fetch_prices(client, "us-east-1", today=TODAY)


# The command


@pytest.fixture
def _aws(stubbed: tuple[object, Stubber], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prices, "pricing_client", lambda _region, _profile: stubbed[0])


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["prices", "fetch", *map(str, arguments)])


@pytest.mark.usefixtures("_aws")
def test_the_file_has_the_prices_their_date_and_region(stubbed: tuple[object, Stubber], tmp_path: Path):
    answer(stubbed[1], PAGES)
    output = tmp_path / "prices.yaml"
    result = run("--region", "us-east-1", "-o", output)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"prices of 2 instance types written to {output}" in result.stderr
    kept = read_prices(output)
    assert (kept.region, kept.per_hour["ml.p5.48xlarge"]) == ("us-east-1", 63.296)


@pytest.mark.usefixtures("_aws")
def test_without_a_file_the_prices_go_to_standard_output(stubbed: tuple[object, Stubber]):
    answer(stubbed[1], PAGES)
    assert parse_prices(run("--region", "us-east-1").stdout).currency == "USD"


@pytest.mark.usefixtures("_aws")
def test_a_file_that_is_there_is_kept_and_aws_is_not_asked(tmp_path: Path):
    output = tmp_path / "prices.yaml"
    output.write_text("mine")
    result = run("--region", "us-east-1", "-o", output)
    assert (result.exit_code, output.read_text()) == (2, "mine")
    assert "--force overwrites it" in result.stderr


@pytest.mark.usefixtures("_aws")
def test_what_aws_refuses_is_told_and_leaves_no_file(stubbed: tuple[object, Stubber], tmp_path: Path):
    message = "User: arn:aws:iam::111122223333:user/ci is not authorized to perform: pricing:GetProducts"
    stubbed[1].add_client_error("get_products", "AccessDeniedException", message, 400)
    result = run("--region", "us-east-1", "-o", tmp_path / "prices.yaml")
    assert (result.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert result.stderr.startswith("error: ")
    assert message in result.stderr


def test_a_profile_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    result = run("--region", "us-east-1", "--profile", "nobody")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "nobody" in result.stderr
