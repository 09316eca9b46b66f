"""An Overview in a window, over simulated markets with stored candles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_series import CandleSeries
from core.domain.events import AccuracySummary, Estimate, ForecastMade
from core.market.feeds.base import FeedState, FeedStatus
from core.storage.folder import DataFolder
from desktop.overview.overview import Overview
from desktop.overview.tile import Tile
from desktop.state.database import WindowDatabase
from desktop.state.markets import MarketsState
from tests.desktop import scenario
from tests.desktop.chart.support import forecast_after, random_series
from tests.desktop.conftest import Bench

STORED = 300
_MINUTE = Interval.parse("1m")
_NAMES = "BTC ETH SOL XRP ADA DOGE AVAX LINK DOT LTC TRX XLM UNI ATOM ETC FIL APT ARB OP NEAR"
MARKETS = tuple(Market("simulated", f"{name}/USDT", _MINUTE) for name in _NAMES.split())


def candles(market: Market, count: int = STORED) -> list[Candle]:
    """Each market has other ones, at another price."""
    number = MARKETS.index(market)
    factor, decimals = 10.0 ** (number % 5 - 3) * (1.0 + 0.07 * number), 2 + max(0, 3 - number % 5)
    return [
        Candle(
            each.open_time_ms,
            *(round(price * factor, decimals) for price in (each.open, each.high, each.low, each.close)),
            each.volume,
        )
        for each in random_series(count, seed=number)
    ]


def series_of(found: Sequence[Candle]) -> CandleSeries:
    series = CandleSeries(_MINUTE)
    series.extend(found)
    return series


def forecast(market: Market, found: Sequence[Candle]) -> ForecastMade:
    """Made when the newest of them closed, of the market's run."""
    plain = forecast_after(series_of(random_series(2)))
    unit = found[-1].close / plain.origin_close
    first_ms = found[-1].open_time_ms
    ghosts = tuple(
        replace(
            ghost,
            open_time_ms=first_ms + ahead * _MINUTE.duration_ms,
            open=ghost.open * unit,
            high=ghost.high * unit,
            low=ghost.low * unit,
            close=ghost.close * unit,
            close_quantiles=tuple(price * unit for price in ghost.close_quantiles),
        )
        for ahead, ghost in enumerate(plain.ghosts, start=1)
    )
    return replace(
        plain,
        run_id=run_id(market),
        origin_open_time_ms=first_ms,
        made_at_ms=first_ms + _MINUTE.duration_ms + 300,
        origin_close=found[-1].close,
        ghosts=ghosts,
    )


def run_id(market: Market) -> str:
    return f"run of {market.symbol}"


def accuracy(market: Market) -> AccuracySummary:
    """Proven, open, too early and harmful, in turn."""
    number = MARKETS.index(market)
    skill = (
        Estimate(0.012, 0.004, 0.02, 4_000),
        Estimate(0.003, -0.004, 0.01, 4_000),
        Estimate(None, None, None, 12),
        Estimate(-0.021, -0.031, -0.011, 4_000),
    )[number % 4]
    return scenario.accuracy(skill_close=skill)


@dataclass
class Wall:
    """The Overview in its window, and what it reads."""

    bench: Bench
    overview: Overview
    markets: MarketsState
    database: WindowDatabase

    @property
    def tiles(self) -> list[Tile]:
        return self.overview.tiles

    def store(self, *stored: Market) -> None:
        """Candles as the window has them from before."""
        for market in stored:
            self.database.candles.save(market, candles(market))

    def begin_run(self, *universe: Market) -> None:
        """A run of these markets: connected, with a forecast, scores and a forming candle each."""
        self.markets.set_universe(universe)
        for market in universe:
            self.markets.set_run(market, run_id(market))
            found = candles(market)
            self.markets.add_closed(market, found)
            self.markets.on_feed_event(market, FeedStatus(FeedState.SIMULATED, "Made here.", scenario.NOW_MS))
            self.markets.add_forecast(market, forecast(market, found))
            self.markets.set_status(
                scenario.market_status(
                    market, run_id(market), accuracy=accuracy(market), position_ms=found[-1].open_time_ms
                )
            )
            self.tick(market)

    def tick(self, market: Market, share: float = 0.0004) -> None:
        """The forming candle's close moves by a share of the price."""
        newest = candles(market)[-1]
        close, reach = newest.close * (1.0 + share), newest.close * 0.0002
        high, low = max(newest.close, close) + reach, min(newest.close, close) - reach
        at_ms = newest.open_time_ms + _MINUTE.duration_ms
        self.markets.set_forming(market, Candle(at_ms, newest.close, high, low, close, 20.0))

    def settle(self) -> None:
        """Bring all charts up to date."""
        QCoreApplication.processEvents()
        self.overview.flush()
        QCoreApplication.processEvents()


@contextmanager
def wall(bench: Bench, root: Path) -> Iterator[Wall]:
    """Not shown yet."""
    folder = DataFolder(root)
    folder.ensure()
    database = WindowDatabase(folder)
    database.open()
    markets = MarketsState()
    overview = Overview(bench.shell, bench.window.pages, markets, database, folder.database, bench.theme, bench.clock)
    try:
        yield Wall(bench, overview, markets, database)
    finally:
        assert overview.finish()
        database.close()
