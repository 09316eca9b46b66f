"""Candles and trades with invented numbers, and how a vendor lays them out in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from core.domain.candle import Candle, Interval
from core.market.history.candle_table import CandleTable, ReadOptions

MINUTE, FIVE_MINUTES, HALF_HOUR = Interval.parse("1m"), Interval.parse("5m"), Interval.parse("30m")
HOUR, DAY = Interval.parse("1h"), Interval.parse("1d")
START_MS = 1_709_251_200_000
"""2024-03-01 00:00 UTC, a Friday."""
_TRADES = 4
"""Of a candle: at its open, high, low and close."""


@dataclass(frozen=True, slots=True)
class Row:
    """A candle. `number` counts from 0. end_ms: where the next one opens."""

    number: int
    ms: int
    end_ms: int
    open: float
    high: float
    low: float
    close: float
    volume: float

    @property
    def s(self) -> int:
        return self.ms // 1000

    @property
    def turnover(self) -> float:
        """In the quote currency."""
        return round(self.volume * self.close, 4)

    @property
    def ohlc(self) -> str:
        return f"{self.open},{self.high},{self.low},{self.close}"

    @property
    def ohlcv(self) -> str:
        return f"{self.ohlc},{self.volume}"

    def text(self, layout: str, zone: str = "UTC") -> str:
        return text_of(self.ms, layout, zone)

    def end(self, layout: str, zone: str = "UTC") -> str:
        return text_of(self.end_ms, layout, zone)


@dataclass(frozen=True, slots=True)
class Trade:
    number: int
    ms: int
    price: float
    amount: float

    @property
    def side(self) -> str:
        return "buy" if self.number % 2 else "sell"

    @property
    def flag(self) -> str:
        return "true" if self.number % 3 else "false"

    def text(self, layout: str) -> str:
        return text_of(self.ms, layout)


def text_of(ms: int, layout: str, zone: str = "UTC") -> str:
    return datetime.fromtimestamp(ms / 1000, ZoneInfo(zone)).strftime(layout)


def rows(count: int = 30, interval: Interval = MINUTE, start_ms: int = START_MS) -> list[Row]:
    step_ms = interval.duration_ms
    return [_row(number, start_ms + number * step_ms, step_ms) for number in range(count)]


def _row(number: int, ms: int, step_ms: int) -> Row:
    opened = 100.0 + 0.5 * number
    close = opened + (0.5 if number % 2 else -0.2)
    prices = (opened, opened + 0.9, opened - 0.4, close, 1.0 + 0.1 * number)
    return Row(number, ms, ms + step_ms, *(round(price, 1) for price in prices))


def trades_of(candles: Sequence[Row]) -> list[Trade]:
    """Of which these candles are made."""
    return [
        Trade(
            _TRADES * row.number + place, row.ms + place * (row.end_ms - row.ms) // _TRADES, price, row.volume / _TRADES
        )
        for row in candles
        for place, price in enumerate((row.open, row.high, row.low, row.close))
    ]


def candle(row: Row, *, volume: float | None = None) -> Candle:
    return Candle(row.ms, row.open, row.high, row.low, row.close, row.volume if volume is None else volume)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A file of one form. form: the name of the form that has to be recognised, empty for none. line: of a candle, or
    of a trade. volume: as it has to be read. symbol: as the file names it."""

    form: str
    file: str
    head: str = ""
    line: Callable[[Row], str] | None = None
    trade: Callable[[Trade], str] | None = None
    candles: list[Row] = field(default_factory=rows)
    is_newest_first: bool = False
    options: ReadOptions = field(default_factory=ReadOptions)
    volume: Callable[[Row], float] = lambda row: row.volume
    symbol: str | None = None

    def __str__(self) -> str:
        return f"{self.form or 'none'}: {self.file}"

    def text(self) -> str:
        if self.line is not None:
            shown = [self.line(row) for row in self.candles]
        else:
            assert self.trade is not None, "a layout has lines of candles or of trades"
            shown = [self.trade(each) for each in trades_of(self.candles)]
        lines = [*([self.head] if self.head else []), *(shown[::-1] if self.is_newest_first else shown)]
        return "\n".join(lines) + "\n"

    def write(self, folder: Path, name: str | None = None) -> Path:
        path = folder / (name or self.file)
        path.write_text(self.text(), encoding="utf-8")
        return path

    def expected(self) -> list[Candle]:
        return [candle(row, volume=self.volume(row)) for row in self.candles]


def candles_of(table: CandleTable) -> list[Candle]:
    columns = table.columns
    return [Candle(int(t), *v) for t, v in zip(columns.open_time_ms, columns.values.T.tolist(), strict=True)]
