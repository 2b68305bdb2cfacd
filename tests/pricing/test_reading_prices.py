"""Price files: what they say, and what is wrong with them."""

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.diagnostics import InputError
from policy_engine.pricing import Prices, parse_prices, prices_text, read_prices

GOOD = """\
currency: USD
region: us-east-1
date: 2026-11-30
source: our price agreement
prices:
  ml.g5.xlarge: 1.408
  ml.p5.48xlarge: 60
"""


def faults(text: str) -> list[str]:
    with pytest.raises(InputError) as raised:
        parse_prices(text, "prices.yaml")
    return [
        f"{finding.position.line}:{finding.position.column} {finding.id} {finding.message}"
        for finding in raised.value.findings
    ]


def test_prices_are_read():
    prices = parse_prices(GOOD)
    assert prices == Prices(
        currency="USD",
        region="us-east-1",
        date=date(2026, 11, 30),
        per_hour={"ml.g5.xlarge": 1.408, "ml.p5.48xlarge": 60},
        source="our price agreement",
    )


def test_json_is_read_too(tmp_path: Path):
    path = tmp_path / "prices.json"
    path.write_text(
        '{"currency": "EUR", "region": "eu-central-1", "date": "2026-01-02", "prices": {"ml.g5.xlarge": 1}}'
    )
    assert read_prices(path).per_hour == {"ml.g5.xlarge": 1}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("USD", "dollars", ["1:11 QM003 'currency': expected three letters, such as USD, not 'dollars'"]),
        ("us-east-1", "Virginia", ["2:9 QM003 'region': expected the Region that the prices are for, such as"]),
        ("2026-11-30", "30.11.2026", ["3:7 QM003 'date': expected when they were valid, such as 2026-11-30"]),
        ("1.408", "-1", ["6:17 QM003 'ml.g5.xlarge': expected a number that is not negative, not -1"]),
        ("1.408", ".nan", ["6:17 QM003 'ml.g5.xlarge': expected a number"]),
        ("1.408", '"1.408"', ["6:17 QM003 'ml.g5.xlarge': expected a number"]),
        ("ml.g5", "g5", ["6:3 QM003 'g5.xlarge' is no SageMaker instance type"]),
        ("source:", "sources:", ["4:1 QM002 a price list has no key 'sources'"]),
        ("currency: USD\n", "", ["1:1 QM004 the price list has no 'currency'"]),
        ("USD", "[USD", ["QM001"]),
        (GOOD, "- 1\n", ["1:1 QM003 expected a mapping, not a list"]),
        (GOOD.partition("prices:")[2], " {}\n", ["5:1 QM003 'prices': expected the price of an instance"]),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, expected: list[str]):
    assert old in GOOD
    found = faults(GOOD.replace(old, new, 1))
    assert len(found) == len(expected)
    assert all(part in message for part, message in zip(expected, found, strict=True)), found


def test_all_faults_are_told_at_once():
    text = GOOD.replace("USD", "usd").replace("1.408", "free").replace("60", "true")
    assert [fault.split()[0] for fault in faults(text)] == ["1:11", "6:17", "7:19"]


def test_a_file_that_is_not_there_is_an_error_of_reading(tmp_path: Path):
    with pytest.raises(InputError, match="there is no such file"):
        read_prices(tmp_path / "none.yaml")


@given(
    st.dictionaries(
        st.from_regex(r"ml\.[a-z][0-9a-z]{1,4}\.[0-9]{0,2}xlarge", fullmatch=True),
        st.integers(0, 10**9).map(lambda millionths: millionths / 10**6),
        min_size=1,
    ),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=30),
)
def test_what_is_written_is_read_back(per_hour: dict[str, float], source: str):
    prices = Prices("CNY", "cn-northwest-1", date(2026, 2, 28), per_hour, source)
    assert parse_prices(prices_text(prices)) == prices
