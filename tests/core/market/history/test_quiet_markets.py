"""Files that leave little to go by: quiet markets, a bad row, days around 1970, hours that clocks repeat."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.market.history.errors import CandleFileError
from core.market.history.reading import ReadOptions
from tests.core.market.history.forms.layouts import START_MS, candle, candles_of
from tests.core.market.history.test_rules import DAYS, HEAD, ORDERS, csv, read, wall_times
from tests.support.candles import random_walk


@pytest.mark.parametrize("unit_ms", [1, 1_000])
def test_days_around_1970_as_numbers(tmp_path: Path, unit_ms: int) -> None:
    file = read(tmp_path, csv(DAYS, lambda row: row.ms // unit_ms))
    assert candles_of(file) == [candle(row) for row in DAYS]


quiet = st.lists(st.tuples(*[st.integers(1, 3)] * 4, st.integers(1, 9)), min_size=2, max_size=12)


@pytest.mark.parametrize("order", ORDERS)
@given(quiet)
def test_a_quiet_market_without_a_header_is_read_right_or_refused(
    tmp_path_factory: pytest.TempPathFactory, order: str, drawn: list[tuple[int, ...]]
) -> None:
    candles = [
        Candle(START_MS + 60_000 * n, o, max(o, c, h), min(o, c, low), c, v)
        for n, (o, h, low, c, v) in enumerate(drawn)
    ]
    candles = [Candle(c.open_time_ms, *map(float, (c.open, c.high, c.low, c.close, c.volume))) for c in candles]
    try:
        file = read(tmp_path_factory.getbasetemp(), "\n".join(map(ORDERS[order], candles)) + "\n")
    except CandleFileError:
        return
    assert candles_of(file) == candles


@pytest.mark.parametrize("order", ["coinbase", "bitfinex", "kucoin", "gate", "gate dump"])
def test_one_bad_row_leaves_the_order_of_columns(tmp_path: Path, order: str) -> None:
    candles = random_walk(60)
    bad = [ORDERS[order](each) for each in candles]
    bad[30] = ORDERS[order](Candle(candles[30].open_time_ms, 100.0, 90.0, 110.0, 100.0, 1.0))
    assert candles_of(read(tmp_path, "\n".join(bad) + "\n")) == candles[:30] + candles[31:]


@pytest.mark.parametrize(("zone", "hours"), [("Europe/Berlin", 2), ("Australia/Sydney", 2), ("America/Havana", 24)])
def test_texts_of_a_named_zone_lose_no_row_of_two_hours_and_longer(tmp_path: Path, zone: str, hours: int) -> None:
    """Only one such candle begins in the repeated hour: the first."""
    times = wall_times(hours, zone)
    text = HEAD + "".join(f"{time:%Y-%m-%d %H:%M:%S},1,2,0.5,1,{n}\n" for n, time in enumerate(times))
    file = read(tmp_path, text, ReadOptions(zone=ZoneInfo(zone)))
    assert file.columns.values[4].tolist() == list(range(len(times)))
