"""Which markets the window learns together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.watchlist import WatchedMarket
from core.settings.tree import MarketSettings, Settings
from core.settings.window import WatchlistSettings
from desktop.services.learned_markets import is_same, wanted_markets

LIST = (
    WatchedMarket("binance", "BTC/USDT", "5m", is_learned=True),
    WatchedMarket("kraken", "ETH/EUR", "5m", is_learned=True),
    WatchedMarket("binance", "SOL/USDT", "5m"),
    WatchedMarket("binance", "XRP/USDT", "1m", is_learned=True),
    WatchedMarket("simulated", "SIM-7", "5m", is_learned=True),
)


def wanted(market: MarketSettings, *group: MarketSettings) -> list[tuple[str, str]]:
    settings = Settings(market=market, watchlist=WatchlistSettings(markets=LIST))
    return [(each.venue, each.symbol) for each in wanted_markets(settings, group)]


@pytest.mark.parametrize("feed", ["auto", "live"])
def test_those_switched_on_with_the_same_interval_are_learned_with_the_opened_one(feed: str) -> None:
    opened = MarketSettings(feed=feed, symbol="SOL/USDT", interval="5m")  # type: ignore[arg-type]
    assert wanted(opened) == [("binance", "SOL/USDT"), ("binance", "BTC/USDT"), ("kraken", "ETH/EUR")]
    assert wanted(replace(opened, symbol="BTC/USDT")) == [("binance", "BTC/USDT"), ("kraken", "ETH/EUR")], "each once"
    assert wanted(replace(opened, interval="15m")) == [("binance", "SOL/USDT")]
    assert wanted(replace(opened, interval="soon")) == [("binance", "SOL/USDT")], "the feed says what is wrong"


def test_simulated_markets_are_learned_with_simulated_ones_and_files_with_none() -> None:
    simulated = MarketSettings(feed="simulate", venue="simulated", symbol="SIM-3", interval="5m")
    assert wanted(simulated) == [("simulated", "SIM-3"), ("simulated", "SIM-7")]
    assert len(wanted(MarketSettings(feed="replay", file="a.csv", interval="5m"))) == 1
    assert len(wanted(MarketSettings(feed="stored", interval="5m"))) == 1


def test_markets_of_the_command_line_are_learned_while_one_of_them_is_opened() -> None:
    first = MarketSettings(feed="live", symbol="ADA/USDT", interval="1h")
    second = replace(first, symbol="XLM/USDT")
    assert wanted(first, first, second) == [("binance", "ADA/USDT"), ("binance", "XLM/USDT")]
    assert wanted(second, first, second) == [("binance", "XLM/USDT"), ("binance", "ADA/USDT")]
    assert len(wanted(replace(first, symbol="LTC/USDT"), first, second)) == 1


def test_a_market_is_the_same_with_or_without_the_sample_in_its_place() -> None:
    asked = MarketSettings(feed="auto")
    assert is_same(asked, replace(asked, feed="live")) and not is_same(asked, replace(asked, feed="stored"))
    assert not is_same(asked, replace(asked, symbol="ETH/USDT"))
