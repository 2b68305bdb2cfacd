import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy_engine.durations import format_milliseconds, parse_milliseconds


@pytest.mark.parametrize(
    ("written", "milliseconds"),
    [
        ("5m", 300_000),
        ("1h30m", 5_400_000),
        ("2d", 172_800_000),
        ("1d2h3m4.567s", 93_784_567),
        ("0s", 0),
        ("90s", 90_000),
        (90, 90_000),
        (0, 0),
        (0.5, 500),
        (1.001, 1_001),
        ("10000d", 864_000_000_000),
    ],
)
def test_a_duration_is_read_to_the_millisecond(written: object, milliseconds: int):
    assert parse_milliseconds(written) == milliseconds


@pytest.mark.parametrize(
    "written",
    [
        "",
        "5",
        "5 m",
        "m",
        "5M",
        "30m1h",
        "1h1h",
        "-5m",
        "1.5h",
        "5m ",
        "５m",
        "1e3s",
        "0.0001s",
        "10001d",
        "9" * 5000 + "d",
    ],
)
def test_a_text_that_is_no_duration_is_refused(written: str):
    with pytest.raises(ValueError, match="expected a duration"):
        parse_milliseconds(written)


@pytest.mark.parametrize("written", [True, None, [], {}, -1, 0.0001, 1e30, float("nan"), float("inf"), 10**18])
def test_a_value_that_is_no_duration_is_refused(written: object):
    with pytest.raises(ValueError, match="expected a duration"):
        parse_milliseconds(written)


@settings(deadline=None)
@given(st.integers(0, 864_000_000_000))
def test_what_is_written_is_read_back(milliseconds: int):
    assert parse_milliseconds(format_milliseconds(milliseconds)) == milliseconds


@pytest.mark.parametrize(
    ("milliseconds", "written"),
    [(0, "0s"), (5_400_000, "1h30m"), (1_500, "1.5s"), (86_400_000, "1d"), (60_001, "1m0.001s")],
)
def test_a_duration_is_written_in_the_shortest_way(milliseconds: int, written: str):
    assert format_milliseconds(milliseconds) == written
