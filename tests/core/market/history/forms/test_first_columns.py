"""Files whose first column is a ticker, a saved index, or a date as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.market.history.read import read_candle_table
from tests.core.market.history.forms.layouts import DAY, candle, candles_of, rows

ROWS = rows()


@pytest.mark.parametrize("first", ["AAPL", "{n}"])
@pytest.mark.parametrize("time", ["%Y%m%d,%H:%M:%S", "%Y-%m-%d %H:%M:%S"])
def test_a_ticker_or_a_saved_index_before_a_time_in_text(tmp_path: Path, first: str, time: str) -> None:
    lines = [f"{first.format(n=row.number)},{row.text(time)},{row.ohlcv}" for row in ROWS]
    path = tmp_path / "first.csv"
    path.write_text("\n".join(lines) + "\n")
    assert candles_of(read_candle_table(path)) == [candle(row) for row in ROWS]


def test_dates_as_text_with_the_close_before_high_and_low(tmp_path: Path) -> None:
    """Eastmoney and ECharts."""
    days = rows(interval=DAY)
    path = tmp_path / "600977_eastmoney.csv"
    path.write_text(
        "".join(f"{r.text('%Y-%m-%d')},{r.open},{r.close},{r.high},{r.low},{r.volume},{r.turnover}\n" for r in days)
    )
    assert candles_of(read_candle_table(path)) == [candle(row) for row in days]


def test_krakens_stream_names_the_beginning(tmp_path: Path) -> None:
    head = "symbol,open,high,low,close,trades,volume,vwap,interval_begin,interval,timestamp"
    lines = [
        f"BTC/USD,{r.ohlc},9,{r.volume},{r.close},{r.text('%Y-%m-%dT%H:%M:%S.000000000Z')},1,{r.end('%Y-%m-%dT%H:%M:%S.000000Z')}"
        for r in ROWS
    ]
    path = tmp_path / "kraken_ws.csv"
    path.write_text("\n".join([head, *lines]) + "\n")
    assert candles_of(read_candle_table(path)) == [candle(row) for row in ROWS]
