"""What exchanges refuse in their own words, through ccxt's own objects: a market that is gone, a limit, a country."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.candle import Interval, Market
from core.market.feeds.base import FeedError
from core.market.feeds.ccxt_objects import make_exchange
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.trouble import HttpResponse, VenueError
from tests.support.exchange.scripted import MARKETS, Reply, ScriptedExchange
from tests.support.feeds import record_events
from tests.support.virtual_network import loop_time

MINUTE = Interval.parse("1m")


async def trouble(venue: str, status: int, body: Any, interval: str = "1m") -> VenueError:
    """The error of a request for candles."""
    kind = "text/html" if isinstance(body, str) else "application/json"
    served = ScriptedExchange(venue, lambda request: Reply(body, status, kind), dict([MARKETS[venue]]))
    async with served.running():
        connected = served.open_venue(served.market(interval))
        try:
            await connected.open(None)
            with pytest.raises(VenueError) as raised:
                await connected.candles(loop_time().now_ms() - 30 * MINUTE.duration_ms)
            return raised.value
        finally:
            await connected.close()


@pytest.mark.parametrize(
    ("venue", "status", "body"),
    [
        ("binance", 400, {"code": -1121, "msg": "Invalid symbol."}),
        ("bingx", 200, {"code": 100400, "msg": "symbol not exist", "timestamp": 1}),
        ("bitget", 400, {"code": "40034", "msg": "Parameter BTCUSDT does not exist", "data": None}),
        ("bithumb", 404, {"error": {"name": 404, "message": "Code not found"}}),
        ("bitstamp", 404, {"errors": [{"field": "", "message": "", "code": "404"}], "code": "404"}),
        ("coinbase", 404, {"error": "NOT_FOUND", "message": "valid product_id is required"}),
        ("coinbaseexchange", 404, {"message": "NotFound"}),
        ("cryptocom", 400, {"id": -1, "code": 40004, "message": "Invalid instrument_name"}),
        (
            "deribit",
            400,
            {"error": {"message": "Invalid params", "data": {"param": "instrument_name"}}},
        ),
        ("gemini", 400, {"result": "error", "reason": "Bad", "message": "Supplied value 'x' is not a valid symbol"}),
        ("hashkey", 400, {"code": -100011, "msg": "Not supported symbols"}),
        ("kraken", 200, {"error": ["EQuery:Unknown asset pair"]}),
        ("kucoin", 400, {"code": "400100", "msg": "symbol BTC-USDT is not exist"}),
        ("kucoin", 400, {"code": "400100", "msg": "This pair is not provided at present"}),
        ("upbit", 404, {"error": {"name": 404, "message": "Code not found"}}),
        ("whitebit", 400, {"success": False, "message": {"market": ["Market is not available."]}, "result": []}),
        ("woo", 400, {"success": False, "code": -1011, "message": "The symbol is not valid."}),
    ],
)
async def test_a_market_that_is_gone_ends_the_feed(venue: str, status: int, body: Any) -> None:
    refused = await trouble(venue, status, body)
    assert refused.is_final and refused.is_absent
    assert MARKETS[venue][0] in str(refused) and "Did you mean" not in str(refused)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"code": -1, "msg": "The market is not available temporarily. Try again later."}),
        (404, "<html><head><title>404</title></head></html>"),
        (500, {"code": -1, "msg": "Internal error"}),
    ],
)
async def test_a_passing_fault_is_no_delisting(status: int, body: Any) -> None:
    assert not (await trouble("binance", status, body)).is_absent


@pytest.mark.parametrize(
    ("venue", "status", "body", "wait_s"),
    [
        ("bitstamp", 403, {"reason": "Request rate limit exceeded.", "code": "400.002"}, None),
        ("bingx", 200, {"code": 100410, "msg": "The endpoint trigger frequency limit rule is blocked, after {}"}, 600),
        ("bitvavo", 429, {"errorCode": 105, "error": "Your IP has been banned. The ban expires at {}."}, 600),
        ("bitvavo", 403, {"errorCode": 112, "error": "Banned, see the rate limit. The ban expires at {}."}, 600),
        ("binance", 418, {"code": -1003, "msg": "Way too many requests; IP banned until {}."}, 600),
    ],
)
async def test_a_rate_limit_is_obeyed(venue: str, status: int, body: Any, wait_s: int | None) -> None:
    """Until the moment that it names, if it names one."""
    until_ms = loop_time().now_ms() + 600_000
    limited = await trouble(venue, status, {key: _with(value, until_ms) for key, value in body.items()})
    assert limited.is_demanded and not limited.is_final
    assert limited.wait_s == pytest.approx(wait_s or 30.0, abs=1.0)


def _with(value: Any, until_ms: int) -> Any:
    return value.format(until_ms) if isinstance(value, str) else value


@pytest.mark.parametrize(
    ("venue", "status", "body"),
    [
        ("bybit", 200, {"retCode": 10024, "retMsg": "Not available to you due to regulatory restrictions."}),
        ("bitget", 200, {"code": "1", "msg": "Services are not provided in your jurisdiction"}),
        ("bingx", 200, {"code": 1, "msg": "This country is not supported"}),
        ("whitebit", 403, {"code": 0, "message": "Access denied: geo-blocked"}),
        ("bybit", 403, "<html><body>CloudFront is configured to block access from your country.</body></html>"),
        ("kucoin", 200, {"code": "400302", "msg": "Our services are currently unavailable in the U.S."}),
        ("phemex", 403, "<html><body>error code: 1009</body></html>"),
    ],
)
async def test_a_country_that_is_not_served_is_final(venue: str, status: int, body: Any) -> None:
    refused = await trouble(venue, status, body)
    assert refused.is_final and refused.is_of_venue and "does not serve this location" in str(refused)


async def test_a_firewall_is_not_a_country() -> None:
    refused = await trouble("okx", 403, "<html><body>error code: 1020</body></html>")
    assert not refused.is_final


async def test_an_interval_named_in_a_refusal_is_another_interval_to_choose() -> None:
    refused = await trouble("bitget", 400, {"code": "40017", "msg": "Parameter verification failed 4h"}, "4h")
    assert refused.is_final and refused.is_absent and "Choose another interval" in str(refused)


async def test_an_exchange_that_needs_further_arguments_is_final() -> None:
    refused = await trouble("cex", 200, {"ok": "ok", "data": []})
    assert refused.is_final and refused.is_of_venue


@pytest.mark.parametrize("venue", ["binanceusdm", "krakenfutures", "dydx", "paradex"])
def test_an_exchange_without_spot_markets_is_refused_at_the_start(venue: str) -> None:
    with pytest.raises(VenueError, match="no spot markets") as raised:
        make_exchange(venue, None, 5.0, HttpResponse())
    assert raised.value.is_final


@pytest.mark.parametrize(("venue", "name"), [("cex", "CEX.IO"), ("coinbase", "Coinbase"), ("mexc", "MEXC")])
async def test_an_exchange_has_one_name_in_all_sentences(venue: str, name: str) -> None:
    served = ScriptedExchange(venue, lambda request: Reply("", 451), {"BTC/USD": "BTC-USD"})
    async with served.running():
        feed = ExchangeFeed(Market(venue, "BTC/USD", MINUTE), loop_time(), 5)
        with pytest.raises(FeedError) as raised:
            await record_events(feed, until=lambda received: False)
    assert name in str(raised.value) and make_exchange(venue, None, 5.0, HttpResponse()).name == name
