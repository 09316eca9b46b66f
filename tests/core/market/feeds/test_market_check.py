"""Checking whether an exchange lists a market, against one on 127.0.0.1."""

from __future__ import annotations

from pathlib import Path

from core.domain.candle import Interval, Market
from core.domain.clock import ManualClock
from core.market.feeds.market_check import Objection, check_market
from core.market.feeds.rate_limits import RateLimitHold
from core.market.symbols import SymbolCache, SymbolList
from tests.support.loopback_tickers import LoopbackTickers

PRICES = {"BTC/USDT": 1.0, "BTC/USDC": 1.0, "ETH/BTC": 2.0}


def market(symbol: str, venue: str = "binance", interval: str = "1m") -> Market:
    return Market(venue, symbol, Interval.parse(interval))


async def ask(
    exchange: LoopbackTickers, asked: Market, folder: Path, requests: list[str] | None = None
) -> Objection | None:
    clock, requests = ManualClock(77), [] if requests is None else requests
    cache, hold = SymbolCache(folder), RateLimitHold(clock)
    return await check_market(asked, cache, exchange.urls, clock, hold, lambda: requests.append("asked"))


async def test_a_listed_market_has_no_objection(tmp_path: Path) -> None:
    async with LoopbackTickers(PRICES) as exchange:
        assert await ask(exchange, market("ETH/BTC"), tmp_path) is None


async def test_an_unknown_market_is_refused_with_suggestions(tmp_path: Path) -> None:
    async with LoopbackTickers(PRICES) as exchange:
        found = await ask(exchange, market("BTC/USD"), tmp_path)
        said = "Binance has no spot market BTC/USD. Did you mean BTC/USDT or BTC/USDC?"
        assert found == Objection(said, is_certain=True)
        assert SymbolCache(tmp_path).load("binance") is not None, "and the next search knows them"


async def test_an_interval_that_only_the_exchange_refuses_is_named_with_the_others(tmp_path: Path) -> None:
    """Regression: it was found out after the running market had ended, and the sample took its place."""
    SymbolCache(tmp_path).save(SymbolList("binance", ("BTC/USDT",), 77))
    async with LoopbackTickers(PRICES) as exchange:
        exchange.refused_intervals = {"1m"}
        requests: list[str] = []
        found = await ask(exchange, market("BTC/USDT"), tmp_path, requests)
        assert requests == ["asked"] and exchange.asked("klines") == 1
    others = "1s, 3m, 5m, 15m, 30m, 1h, 2h, 4h, 6h, 8h, 12h, 1d, 3d, 1w"
    sentence = f"Binance has no candles of 1m. It has {others}. Choose another interval."
    assert found == Objection(sentence, is_certain=True)


async def test_a_listed_market_is_opened_while_its_exchange_does_not_answer(tmp_path: Path) -> None:
    SymbolCache(tmp_path).save(SymbolList("binance", ("BTC/USDT",), 77))
    async with LoopbackTickers(PRICES) as exchange:
        exchange.answer(503)
        assert await ask(exchange, market("BTC/USDT"), tmp_path) is None


async def test_an_unreachable_exchange_gives_an_uncertain_objection(tmp_path: Path) -> None:
    async with LoopbackTickers(PRICES) as exchange:
        exchange.answer(503)
        found = await ask(exchange, market("BTC/USD"), tmp_path)
    assert found is not None and not found.is_certain
    assert found.sentence == (
        "Binance is down for maintenance or overloaded (503). So it is not known whether Binance has BTC/USD."
    )


async def test_an_unknown_interval_or_exchange_is_refused_without_a_request(tmp_path: Path) -> None:
    async with LoopbackTickers(PRICES) as exchange:
        interval = await ask(exchange, market("BTC/USDT", interval="7m"), tmp_path)
        venue = await ask(exchange, market("BTC/USDT", venue="binanse"), tmp_path)
        assert not exchange.requests
    assert interval is not None and interval.is_certain and "no candles of 7m" in interval.sentence
    assert venue is not None and venue.is_certain and "Did you mean" in venue.sentence
