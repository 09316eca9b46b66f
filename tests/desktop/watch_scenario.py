"""A list of markets with a row of each kind, for tests and pictures; seeded."""

from __future__ import annotations

import numpy as np

from core.domain.watchlist import WatchedMarket, Watchlist
from core.market.feeds.ticker_poller import PollTrouble, Quoted
from core.market.feeds.tickers import DayOfPrices, Quote
from desktop.state.run_state import RunState
from tests.desktop.scenario import NOW_MS

FRESH_MS, OLD_MS = NOW_MS - 3_000, NOW_MS - 250_000
CUT = "Kraken cannot be reached: no network, or its address is blocked."


def markets() -> Watchlist:
    return (
        WatchedMarket("binance", "BTC/USDT", "1m"),
        WatchedMarket("binance", "ETH/USDT", "1m"),
        WatchedMarket("binance", "SOL/USDT", "15m"),
        WatchedMarket("kraken", "ETH/EUR", "1h"),
        WatchedMarket("coinbase", "DOGE/USD", "5m"),
        WatchedMarket("binance", "NOSUCH/USDT", "1m"),
    )


def quote(last: float, change: float, at_ms: int = FRESH_MS, seed: int = 1) -> Quote:
    """A day of prices that leads to `last` with this change, a fraction."""
    generator = np.random.default_rng(seed)
    begin = last / (1.0 + change)
    walk = np.cumsum(generator.normal(0.0, 0.004, 96))
    bridge = walk - walk[-1] * np.linspace(0.0, 1.0, 96)
    closes = (np.linspace(begin, last, 96) * (1.0 + bridge)).tolist()
    return Quote(last, at_ms, DayOfPrices(tuple(closes), begin))


def fill_quotes(state: RunState) -> None:
    """Fresh prices, an exchange that does not answer, an unknown market, and one without a price yet."""
    state.quotes.take(
        Quoted(
            "binance",
            {
                "BTC/USDT": quote(64_561.31, 0.0123, seed=1),
                "ETH/USDT": quote(3_214.07, -0.0341, seed=2),
                "SOL/USDT": quote(151.42, 0.0874, seed=3),
            },
            {"NOSUCH/USDT": "Binance has no spot market NOSUCH/USDT. Symbols are written like BTC/USDT."},
        )
    )
    state.quotes.take(Quoted("kraken", {"ETH/EUR": quote(2_961.5, 0.004, OLD_MS, seed=4)}, {}))
    state.quotes.take(PollTrouble("kraken", CUT, NOW_MS + 12_000))
