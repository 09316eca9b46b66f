import math
from datetime import UTC
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.price_lines import LineKind, PriceLine
from desktop.ui import formatting
from desktop.ui.formatting import crossing_time

MIDNIGHT_2_DEC_2020_MS = 1_606_867_200_000
MINUTE_MS = 60_000
NINE_MS = 1_578_214_800_000
"""5 January 2020, 09:00 UTC."""


@pytest.mark.parametrize(
    ("price", "text"),
    [(19715.93, "19,715.93"), (1.05227, "1.05227"), (0.00001234, "0.00001234"), (1e9, "1,000,000,000"), (1e-8, None)],
)
def test_prices_get_the_decimals_of_their_magnitude(price: float, text: str | None) -> None:
    written = formatting.format_price(price)
    assert float(written.replace(",", "")) == pytest.approx(price, rel=1e-4)
    if text is not None:
        assert written == text


@given(st.integers(1, 99_999_999), st.integers(0, 8))
def test_a_markets_decimals_write_its_prices_without_loss(units: int, decimals: int) -> None:
    price = units / 10**decimals
    prices = [price, price + 10.0**-decimals]
    found = formatting.decimals_of_prices(prices)
    if np.floor(np.log10(np.median(prices))) + found <= 7:
        written = float(formatting.format_price(price, found).replace(",", ""))
        assert written == pytest.approx(price, rel=1e-6)


def test_prices_without_a_tick_are_not_written_to_the_last_digit() -> None:
    assert formatting.decimals_of_prices(np.array([123.4567891, 123.9876543])) == 2
    assert formatting.decimals_of_prices([]) == 2
    assert formatting.decimals_of_prices([float("nan"), -1.0]) == 2


@pytest.mark.parametrize(
    ("volume", "text"),
    [
        (136.104, "136.1"),
        (1_234, "1.2K"),
        (3.4e6, "3.4M"),
        (1.4e9, "1.4B"),
        (999.96, "1.0K"),
        (999_960.0, "1.0M"),
        (2e12, "2.0T"),
        (0.0, "0"),
        (0.00123, "0.00123"),
        (-1_500, f"{formatting.MINUS}1.5K"),
    ],
)
def test_volumes(volume: float, text: str) -> None:
    assert formatting.format_volume(volume) == text


@given(st.floats(0.01, 1e14))
def test_a_written_volume_is_near_the_volume(volume: float) -> None:
    text = formatting.format_volume(volume)
    scale = {"K": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}.get(text[-1], 1.0)
    assert float(text.rstrip("KMBT").replace(",", "")) * scale == pytest.approx(volume, rel=0.06)


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), float("-inf"), None])
def test_non_finite_numbers_are_never_shown(broken: float | None) -> None:
    functions = (
        formatting.format_price,
        formatting.format_volume,
        formatting.format_percent,
        formatting.format_number,
        formatting.format_duration,
    )
    assert {function(broken) for function in functions} == {formatting.MISSING}


@pytest.mark.parametrize(
    ("fraction", "text"),
    [(0.0123, "+1.23 %"), (-0.5, f"{formatting.MINUS}50.00 %"), (0.0, "0.00 %"), (-0.000001, "0.00 %")],
)
def test_signed_percentages(fraction: float, text: str) -> None:
    assert formatting.format_percent(fraction, signed=True) == text


def test_counts() -> None:
    assert formatting.format_count(1_234_567) == "1,234,567"
    assert formatting.format_count(None) == formatting.MISSING


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        (UTC, "2 Dec 2020 00:00"),
        (ZoneInfo("America/New_York"), "1 Dec 2020 19:00"),
        (ZoneInfo("Asia/Kolkata"), "2 Dec 2020 05:30"),
    ],
)
def test_times_follow_the_zone(zone: ZoneInfo, text: str) -> None:
    assert formatting.format_time(MIDNIGHT_2_DEC_2020_MS, zone) == text


def test_times_beyond_the_calendar() -> None:
    assert formatting.format_time(10**18, UTC) == formatting.MISSING
    assert formatting.format_time(None) == formatting.MISSING


def test_weekday_and_seconds() -> None:
    text = formatting.format_time(MIDNIGHT_2_DEC_2020_MS + 61_000, UTC, seconds=True, weekday=True)
    assert text == "Wed 2 Dec 2020 00:01:01"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.42, "0.4 s"),
        (9.96, "10 s"),
        (45, "45 s"),
        (60, "1 min"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (360_000, "4 d 4 h"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert formatting.format_duration(seconds) == text


@pytest.mark.parametrize(
    ("age_ms", "text"),
    [
        (0, "just now"),
        (-9_000, "just now"),
        (45_000, "45 s ago"),
        (185_000, "3 min ago"),
        (7_300_000, "2 h ago"),
        (5 * 86_400_000, "5 d ago"),
    ],
)
def test_ages(age_ms: int, text: str) -> None:
    assert formatting.format_age(1_000_000_000_000 - age_ms, 1_000_000_000_000) == text
    assert formatting.format_age(None, 1_000_000_000_000) == formatting.MISSING


@pytest.mark.parametrize(
    ("left_ms", "text"),
    [
        (-5, "00:00"),
        (0, "00:00"),
        (1, "00:01"),
        (45_000, "00:45"),
        (3_723_000, "1:02:03"),
        (183_845_000, "2d 03:04:05"),
    ],
)
def test_countdowns(left_ms: int, text: str) -> None:
    assert formatting.format_countdown(left_ms) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0012345, "0.00123"),
        (0.694, "0.694"),
        (2.1, "2.10"),
        (9_994.0, "9,994"),
        (9_996.0, "1.00×10⁴"),
        (1.234e6, "1.23×10⁶"),
        (3.2e-7, "3.20×10⁻⁷"),
        (-2.5e-12, "−2.50×10⁻¹²"),
        (0.0, "0"),
        (math.nan, formatting.MISSING),
        (math.inf, formatting.MISSING),
        (None, formatting.MISSING),
    ],
)
def test_numbers_of_any_size_keep_their_first_digits(value: float | None, text: str) -> None:
    assert formatting.format_significant(value) == text


@given(st.floats(1e-4, 9e3), st.integers(1, 5))
def test_a_plain_significant_number_is_the_number_to_its_digits(value: float, digits: int) -> None:
    text = formatting.format_significant(value, digits).replace(",", "")
    assert float(text) == pytest.approx(value, rel=0.51 * 10.0 ** (1 - digits))


@pytest.mark.parametrize(
    ("milliseconds", "signed", "text"),
    [
        (None, False, "–"),
        (math.nan, True, "–"),
        (0.0, True, "0 ms"),
        (0.2, False, "below 1 ms"),
        (84.2, False, "84 ms"),
        (84.2, True, "+84 ms"),
        (-212.4, True, "−212 ms"),
        (1234.0, False, "1.2 s"),
        (-90_000.0, True, "−1 min 30 s"),
    ],
)
def test_milliseconds(milliseconds: float | None, signed: bool, text: str) -> None:
    assert formatting.format_milliseconds(milliseconds, signed=signed) == text


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(64_200.1, 2, "64,200.10"), (1e-13, 14, "0.00000000000010"), (-3.2e115, 2, "−3.20×10¹¹⁵"), (None, 2, "–")],
)
def test_an_axis_shows_no_unknown_digit(value: float | None, decimals: int, text: str) -> None:
    assert formatting.format_level(value, decimals) == text


@pytest.mark.parametrize(
    ("within_ms", "text"),
    [
        (15 * MINUTE_MS, "in the 15m candle of 5 Jan 2020 08:45"),
        (1_000, "in the 1s candle of 5 Jan 2020 08:59:59"),
    ],
)
def test_a_crossing_in_a_closed_candle_names_its_opening_time(within_ms: int, text: str) -> None:
    line = PriceLine(1.0, LineKind.ALERT, crossed_at_ms=NINE_MS - 1, crossed_within_ms=within_ms)
    assert crossing_time(line, UTC) == text


def test_a_known_moment_is_shown() -> None:
    assert crossing_time(PriceLine(1.0, LineKind.ALERT, crossed_at_ms=NINE_MS - 1), UTC) == "5 Jan 2020 08:59"
