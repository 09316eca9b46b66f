"""Exported candles are read back without loss."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.market.history.candle_csv import csv_pieces
from core.market.history.candle_file import read_candle_file


@given(base=st.floats(1e-6, 1e6), moves=st.lists(st.floats(0.97, 1.03), min_size=10, max_size=600))
def test_the_round_trip_is_exact(tmp_path_factory: object, base: float, moves: list[float]) -> None:
    candles, close = [], base
    for index, move in enumerate(moves):
        opened, close = close, close * move
        high, low = max(opened, close) * 1.001, min(opened, close) * 0.999
        candles.append(Candle(1_606_780_800_000 + index * 60_000, opened, high, low, close, 1.0 / (index + 1)))
    path = Path(tmp_path_factory.mktemp("export")) / "candles.csv"  # type: ignore[attr-defined]
    series = CandleSeries(Interval.parse("1m"))
    series.extend(candles)
    path.write_text("".join(csv_pieces(series.open_time_ms, series.values)), encoding="utf-8")
    assert list(read_candle_file(path).candles) == candles


def test_without_candles_the_csv_has_only_a_header() -> None:
    none = CandleSeries(Interval.parse("1m"))
    assert list(csv_pieces(none.open_time_ms, none.values)) == ["open_time_ms,open,high,low,close,volume\n"]
