"""Candles as CSV, in the form that `core.market.files` reads back without loss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.market.candle import Candle

COLUMNS = ("open_time_ms", "open", "high", "low", "close", "volume")


def to_csv(candles: Iterable[Candle]) -> str:
    """A header and a line a candle. Times are UTC milliseconds; numbers have every digit that they need."""
    return "\n".join([",".join(COLUMNS), *_lines(candles), ""])


def _lines(candles: Iterable[Candle]) -> Iterator[str]:
    for candle in candles:
        prices = (candle.open, candle.high, candle.low, candle.close, candle.volume)
        yield f"{candle.open_time_ms}," + ",".join(repr(value) for value in prices)
