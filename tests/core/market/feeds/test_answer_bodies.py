"""Answers with status 200 that are no candles: trouble that passes, never an empty list. Through ccxt's own objects."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.candle import Interval
from core.domain.clock import SystemClock
from core.market.feeds.answer_bodies import require_candles
from core.market.feeds.base import FeedState
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.market_check import check_market
from core.market.feeds.rate_limits import RateLimitHold
from core.market.feeds.trouble import VenueError
from core.market.symbols import SymbolCache
from tests.support.exchange.scripted import MARKETS, Reply, ScriptedExchange
from tests.support.feeds import record_events
from tests.support.virtual_network import loop_time

MINUTE = Interval.parse("1m")
PAGE = Reply("<!DOCTYPE html><html><head><title>Wi-Fi login</title></head><body>x</body></html>", kind="text/html")


def exchange(venue: str, answer: Any) -> ScriptedExchange:
    return ScriptedExchange(venue, lambda request: answer, dict([MARKETS[venue]]))


async def candles(served: ScriptedExchange) -> list[Any]:
    """The candles of the last half hour."""
    async with served.running():
        venue: CcxtVenue = served.open_venue(served.market())
        try:
            await venue.open(None)
            return list(await venue.candles(loop_time().now_ms() - 30 * MINUTE.duration_ms))
        finally:
            await venue.close()


@pytest.mark.parametrize("venue", ["binance", "coinbase", "gemini", "htx", "kraken", "okx"])
@pytest.mark.parametrize(
    "answer",
    [
        PAGE,
        "",
        "{}",
        '{"code": 99999, "msg": "no such thing"}',
        '{"code": "99999", "msg": "no such thing", "data": []}',
        '{"success": false, "message": "no such thing", "result": []}',
        '{"status": "error", "err-msg": "no such thing"}',
        '{"error": "no such thing"}',
        '[["cut off',
    ],
    ids=["page", "nothing", "{}", "code", "code and list", "no success", "status", "error", "cut off"],
)
async def test_an_answer_that_is_no_list_is_requested_again(venue: str, answer: Any) -> None:
    with pytest.raises(VenueError) as raised:
        await candles(exchange(venue, answer))
    assert not raised.value.is_final and not raised.value.is_absent


@pytest.mark.parametrize(
    ("venue", "answer"),
    [
        ("binance", []),
        ("kraken", {"error": [], "result": {"XXBTZUSD": [], "last": 0}}),
        ("coinbase", {"candles": []}),
        ("okx", {"code": "0", "msg": "", "data": []}),
        ("htx", {"status": "ok", "ch": "market.btcusdt.kline.1min", "ts": 1, "data": []}),
        ("gemini", []),
        ("gemini", [[1_000_000_020_000, 1, 1, 1, 1, 1]]),
    ],
)
async def test_an_empty_list_and_one_of_older_candles_are_answers(venue: str, answer: Any) -> None:
    assert await candles(exchange(venue, answer)) == []


@pytest.mark.parametrize(
    "body",
    [
        '{"code": 0, "msg": "success", "data": null}',
        '{"code": "200000", "data": []}',
        '{"retCode": 0, "retMsg": "OK", "result": {"category": "spot", "list": []}}',
        '{"code": 0, "data": {"total": -1, "rows": []}}',
        '{"result": {"status": "no_data", "ticks": [], "open": []}}',
        '{"s": "no_data"}',
        '{"rc": 0, "mc": "SUCCESS", "ma": [], "result": []}',
        '{"data": {"ohlc": [], "pair": "BTC/USD"}}',
    ],
)
def test_empty_lists_of_other_forms_are_answers(body: str) -> None:
    require_candles(body, "Exchange")


def test_a_list_of_faults_is_no_list_of_candles() -> None:
    for body in ('{"rc": 1, "mc": "SYMBOL_001", "ma": [], "result": null}', '{"error": []}', '["error", 10020]'):
        with pytest.raises(VenueError):
            require_candles(body, "Exchange")


async def test_words_of_an_unknown_error_are_read() -> None:
    """HTX's maintenance, which ccxt does not know."""
    answer = {"status": "maintain-time", "ts": 1, "err-code": "maintenance", "err-msg": "system maintenance"}
    with pytest.raises(VenueError, match="down for maintenance"):
        await candles(exchange("htx", answer))


@pytest.mark.parametrize("venue", ["binance", "kraken", "gemini"])
@pytest.mark.parametrize("answer", [PAGE, "{}", ""], ids=["page", "{}", "nothing"])
async def test_a_start_behind_a_login_page_is_tried_again(venue: str, answer: Any) -> None:
    served = exchange(venue, answer)
    market = served.market()
    served.markets = None
    async with served.running():
        feed = ExchangeFeed(market, loop_time(), 5)
        received = await record_events(feed, until=lambda received: len(received.states) > 6)
    assert "reconnecting" in received.states
    assert answer is not PAGE or "Wi-Fi login" in received.sentence(FeedState.RECONNECTING), "whose page it is"


async def test_a_market_is_not_denied_behind_a_login_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    served = exchange("binance", {})
    market = served.market()
    served.markets = None
    async with served.running():
        monkeypatch.setattr("core.market.feeds.tickers.make_exchange", served.make)
        hold = RateLimitHold(SystemClock())
        objection = await check_market(market, SymbolCache(tmp_path), None, loop_time(), hold)
    assert objection is not None and not objection.is_certain
