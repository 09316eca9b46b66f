"""A list of markets with a row of each kind, for tests and pictures; seeded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from core.domain.candle import SIMULATED_VENUE, Candle, Market
from core.domain.events import AccuracySummary, Estimate, EventBatch, MarketStatus, MemberRun
from core.domain.watchlist import WatchedMarket, Watchlist
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.ticker_poller import PollTrouble, Quoted
from core.market.feeds.tickers import Quote
from desktop.panels.markets.panel import MarketsPanel
from desktop.state.run_state import RunState
from tests.desktop import scenario
from tests.desktop.scenario import MINUTE, NOW_MS

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


def quote(last: float, change: float, at_ms: int = FRESH_MS) -> Quote:
    return Quote(last, at_ms, change)


def fill_quotes(state: RunState) -> None:
    """Fresh prices, an exchange that does not answer, an unknown market, and one without a price yet."""
    state.quotes.apply(
        Quoted(
            "binance",
            {
                "BTC/USDT": quote(64_561.31, 0.0123),
                "ETH/USDT": quote(3_214.07, -0.0341),
                "SOL/USDT": quote(151.42, 0.0874),
            },
            {"NOSUCH/USDT": "Binance has no spot market NOSUCH/USDT. Symbols are written like BTC/USDT."},
        )
    )
    state.quotes.apply(Quoted("kraken", {"ETH/EUR": quote(2_961.5, 0.004, OLD_MS)}, {}))
    state.quotes.apply(PollTrouble("kraken", CUT, NOW_MS + 12_000))


SIMULATED = tuple(Market(SIMULATED_VENUE, f"SIM-{number}", MINUTE) for number in range(1, 11))
PROVEN, HARMFUL, UNPROVEN = (
    Estimate(0.0412, 0.0288, 0.0536, 3_000),
    Estimate(-0.0123, -0.0201, -0.0045, 3_000),
    Estimate(0.0104, -0.0044, 0.0252, 1_500),
)
EARLY = Estimate(0.02, None, None, 412)
_WORTHS = ((PROVEN, PROVEN), (PROVEN, UNPROVEN), (UNPROVEN, UNPROVEN), (EARLY, EARLY), (HARMFUL, HARMFUL))


def accuracy(skill: Estimate, gain: Estimate) -> AccuracySummary:
    """Scores with this skill of the closes and this gain from the model."""
    return scenario.accuracy(skill_close=skill, model_gain=(gain, gain, gain))


def candles_of(number: int) -> list[Candle]:
    """Of the market with this number, the last one forming."""
    return scenario.market(61, seed=20 + number)


def run_universe(state: RunState, markets: Sequence[Market] = SIMULATED) -> None:
    """A run of these markets in full swing, each with candles, ghosts and scores; the last feed is in trouble, and the
    last but one is not learned from."""
    known = state.markets
    known.set_universe(markets)
    members, is_simulated = [], markets[0].is_simulated
    for number, market in enumerate(markets):
        *closed, forming = candles_of(number)
        known.set_run(market, run_id(number))
        known.add_closed(market, closed)
        known.set_forming(market, forming)
        state.apply(EventBatch((replace(scenario.forecast(closed, seed=number), run_id=run_id(number)),)))
        usual = FeedState.SIMULATED if is_simulated else FeedState.LIVE
        known.on_feed_event(market, FeedStatus(usual, "Candles come as they close.", NOW_MS))
        members.append(MemberRun(run_id(number), market, is_learned=number != len(markets) - 2))
    lost = FeedStatus(FeedState.RECONNECTING, "No message for 30 s.", NOW_MS, retry_at_ms=NOW_MS + 8_000)
    known.on_feed_event(markets[-1], lost)
    statuses = tuple(
        MarketStatus(member, NOW_MS, accuracy(*_WORTHS[number % len(_WORTHS)]), None, None, None)
        for number, member in enumerate(members)
    )
    state.apply(scenario.ready(run_id(0), *members))
    state.apply(scenario.status(run_id=run_id(0), markets=statuses))


def run_id(number: int) -> str:
    """Of a market of `run_universe`."""
    return f"run-{number}"


def click_row(panel: MarketsPanel, row: int) -> None:
    place = panel.table.visualRect(panel.table.model().index(row, 0)).center()
    QTest.mouseClick(panel.table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
