"""Durations, times and amounts as people read them."""

import pytest

from policy_engine.amounts import brief_duration, counted, decimal, in_hours, iso_date, moment, percent
from policy_engine.durations import parse_milliseconds

SECOND, MINUTE, HOUR, DAY = 1000, 60_000, 3_600_000, 86_400_000


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0s"),
        (1, "1ms"),
        (999, "999ms"),
        (1000, "1s"),
        (59_499, "59s"),
        (59_500, "1m00s"),
        (90 * SECOND, "1m30s"),
        (59 * MINUTE + 59_499, "59m59s"),
        (59 * MINUTE + 59_500, "1h00m"),
        (3 * HOUR + 5 * MINUTE + 12 * SECOND, "3h05m"),
        (23 * HOUR + 59 * MINUTE + 30 * SECOND, "1d00h"),
        (38 * DAY + 18 * HOUR, "38d18h"),
        (99 * DAY + 23 * HOUR, "99d23h"),
        (100 * DAY + 12 * HOUR, "101d"),
        (1234 * DAY, "1,234d"),
    ],
)
def test_a_duration_has_two_units_at_most(milliseconds: int, text: str):
    assert brief_duration(milliseconds) == text


@pytest.mark.parametrize("milliseconds", [0, 1000, 90_000, 2 * HOUR, 2 * DAY + HOUR])
def test_a_duration_that_is_not_rounded_can_be_read_back(milliseconds: int):
    assert parse_milliseconds(brief_duration(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("milliseconds", "epoch", "text"),
    [
        (0, None, "00:00:00"),
        (DAY - 1, None, "23:59:59"),
        (3 * DAY + 2 * HOUR + 61 * SECOND, None, "3d 02:01:01"),
        (0, 1_772_438_400_000, "2026-03-02 08:00:00"),
        (16 * HOUR, 1_772_438_400_000, "2026-03-03 00:00:00"),
    ],
)
def test_a_moment_is_a_date_where_the_trace_has_dates(milliseconds: int, epoch: int | None, text: str):
    assert moment(milliseconds, epoch) == text


def test_a_date_for_programs_has_its_zone():
    assert iso_date(500, 1_772_438_400_000) == "2026-03-02T08:00:00.500Z"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (0.01, "<0.1"), (0.05, "0.1"), (1, "1.0"), (99.94, "99.9"), (99.95, "100"), (1234.5, "1,234")],
)
def test_an_amount_has_one_decimal_at_most(number: float, text: str):
    assert decimal(number) == text


def test_instance_hours_are_made_from_instance_milliseconds():
    assert in_hours(90 * MINUTE) == "1.5"


@pytest.mark.parametrize(("fraction", "text"), [(None, "-"), (0.0, "0%"), (0.617, "62%"), (2.5, "250%")])
def test_a_fraction_is_a_percentage_and_none_a_dash(fraction: float | None, text: str):
    assert percent(fraction) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 jobs"), (1, "1 job"), (82_247, "82,247 jobs")])
def test_one_is_singular(count: int, text: str):
    assert counted(count, "job") == text
