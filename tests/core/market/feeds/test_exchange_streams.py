"""Streams that differ from what is requested: in their grid, their volume, their names, or by not being there.

On virtual time, through ccxt's own objects.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from aiohttp import web

from core.domain.candle import DAY_MS, Candle, Interval, Market
from core.market.feeds.base import (
    FeedError,
    FeedState,
    FeedVitals,
    StoredCandles,
)
from core.market.feeds.ccxt_session import CcxtSession, CcxtVenue
from core.market.feeds.many import open_feeds
from tests.support.exchange.streaming import StreamingExchange, nothing
from tests.support.exchange.watching import (
    HONG_KONG_MS,
    HOUR_MS,
    PRICE,
    gate,
    htx,
    now_ms,
    of,
    open_of,
    reasons,
    row,
    rows_from,
    sentences,
    watched,
)
from tests.support.feeds import live, record_events
from tests.support.virtual_network import loop_time

# --- the grid of the stream


def okx(venue: str, interval: str) -> StreamingExchange:
    """Its channels have candles of UTC by names that end so, else of Hong Kong; a week opens on Monday."""
    step_ms = Interval.parse(interval).duration_ms
    utc_ms = 4 * DAY_MS % step_ms

    def phase_ms(name: str) -> int:
        return utc_ms if name.endswith("utc") else (utc_ms - 8 * HOUR_MS) % step_ms

    def answer(request: web.Request) -> Any:
        listed = rows_from(int(request.query["before"]) + 1, step_ms, phase_ms(request.query["bar"]))
        return {"code": "0", "msg": "", "data": [[str(cell) for cell in (*each, 0, 0, 0)] for each in reversed(listed)]}

    def stream(texts: list[str]) -> Iterable[Any]:
        for each in [arg for text in texts if text != "ping" for arg in json.loads(text)["args"]]:
            if each["channel"].startswith("candle"):
                current = row(open_of(now_ms(), step_ms, phase_ms(each["channel"])), step_ms)
                yield {"arg": each, "data": [[str(cell) for cell in (*current, 0, 0, 0)]]}

    return StreamingExchange(venue, answer, {"BTC/USDT": "BTC-USDT"}, stream=stream)


def bitget(interval: str) -> StreamingExchange:
    step_ms = Interval.parse(interval).duration_ms
    utc_ms = 4 * DAY_MS % step_ms

    def phase_ms(name: str) -> int:
        return utc_ms if name.endswith("utc") else (utc_ms - 8 * HOUR_MS) % step_ms

    def answer(request: web.Request) -> Any:
        listed = rows_from(int(request.query["startTime"]), step_ms, phase_ms(request.query["granularity"]))
        return {"code": "00000", "data": [[str(cell) for cell in (*each, 0, 0)] for each in listed]}

    def stream(texts: list[str]) -> Iterable[Any]:
        for each in [arg for text in texts if text != "ping" for arg in json.loads(text)["args"]]:
            if each["channel"].startswith("candle"):
                current = row(open_of(now_ms(), step_ms, phase_ms(each["channel"])), step_ms)
                yield {"action": "snapshot", "arg": each, "data": [[str(cell) for cell in (*current, 0, 0)]]}

    return StreamingExchange("bitget", answer, {"BTC/USDT": "BTCUSDT"}, stream=stream)


@pytest.mark.parametrize("interval", ["6h", "12h", "1d", "1w", "4h"])
@pytest.mark.parametrize("venue", ["okx", "myokx", "okxus", "bitget"])
async def test_the_candles_of_the_stream_are_those_that_are_requested(venue: str, interval: str) -> None:
    exchange = bitget(interval) if venue == "bitget" else okx(venue, interval)
    received = await watched(exchange, interval, 15.0)
    assert len(received.candles) in (3, 4) and len(received.forming) > 5
    assert not reasons(received)
    assert {each.open_time_ms for each in received.forming} == {
        received.candles[-1].open_time_ms + Interval.parse(interval).duration_ms
    }


async def test_the_open_candle_is_requested_while_the_streamed_ones_are_of_another_time_zone() -> None:
    exchange = okx("okx", "1d")
    exchange.stream, exchange.every_s = hong_kong, 10.0
    received = await watched(exchange, "1d", 3_000.0)
    assert reasons(received) == {"time off the grid"}
    assert {each.open_time_ms % DAY_MS for each in received.forming} == {0}
    assert 2 <= len(received.forming) <= 4 and len(exchange.requests) < 10


def hong_kong(texts: list[str]) -> Iterable[Any]:
    for text in texts:
        if "candle" in text:
            (arg,) = json.loads(text)["args"]
            current = row(open_of(now_ms(), DAY_MS, HONG_KONG_MS), DAY_MS)
            yield {"arg": arg, "data": [[str(cell) for cell in (*current, 0, 0, 0)]]}


async def test_days_open_where_the_exchange_has_them_open() -> None:
    received = await watched(htx(DAY_MS, HONG_KONG_MS), "1d", 15.0)
    assert {each.open_time_ms % DAY_MS for each in received.candles} == {HONG_KONG_MS}
    assert len(received.candles) >= 2 and len(received.forming) > 5 and not reasons(received)


async def test_a_day_off_the_grid_of_the_others_is_refused() -> None:
    received = await watched(htx(DAY_MS, HONG_KONG_MS, odd_ms=HOUR_MS), "1d", 15.0, catch_up=6)
    assert {each.open_time_ms % DAY_MS for each in received.candles} == {HONG_KONG_MS}
    assert len(received.candles) >= 4 and reasons(received) == {"time off the grid"}


async def test_days_that_do_not_fit_the_stored_ones_are_refused_with_a_sentence() -> None:
    stored = [Candle(open_of(now_ms(), DAY_MS) - back * DAY_MS, *[PRICE] * 4, 1.0) for back in range(9, 5, -1)]
    with pytest.raises(FeedError, match="do not fit the stored ones"):
        await watched(htx(DAY_MS, HONG_KONG_MS), "1d", 15.0, known=StoredCandles(stored))


@pytest.mark.parametrize(
    ("asked", "sent_ms", "phase_ms", "said"),
    [
        ("1w", 3 * DAY_MS, 0, "HTX has no candles of 1w: those that it sends are 3d apart"),
        ("1w", DAY_MS, 0, "those that it sends are 1d apart"),
        ("4h", 8 * HOUR_MS, 0, "those that it sends are 8h apart"),
        ("1m", 60_000, 30_000, "do not fit those of other exchanges"),
        ("4h", 4 * HOUR_MS, HOUR_MS, "do not fit those of other exchanges"),
    ],
)
async def test_candles_of_another_length_or_grid_are_refused_with_a_sentence(
    asked: str, sent_ms: int, phase_ms: int, said: str
) -> None:
    with pytest.raises(FeedError, match=said):
        await watched(htx(sent_ms, phase_ms), asked, 15.0, catch_up=60)


# --- volumes and closes


@pytest.mark.parametrize("venue", ["gate", "gateeu"])
async def test_the_forming_volume_is_in_the_base_currency_and_a_candle_closes_at_once(venue: str) -> None:
    received = await watched(gate(venue), "1m", 150.0)
    assert max(each.volume for each in received.forming) <= 6.0
    assert len(received.live) == 2
    assert of(received, FeedVitals)[-1].close_delay_ms < 1_000.0


async def test_a_dead_socket_is_noticed_while_the_same_candle_is_open() -> None:
    received = await watched(gate("gate", "1h", is_deaf=True), "1h", 75.0)
    assert "stopped sending data" in received.sentence(FeedState.RECONNECTING)


async def test_data_without_a_candle_is_reported_with_what_was_refused() -> None:
    exchange = gate("gate")
    whole = exchange.stream
    exchange.answer = lambda _: []
    begin_ms = now_ms()

    def broken_for_a_while(texts: list[str]) -> Iterable[Any]:
        for message in whole(texts):
            if now_ms() - begin_ms < 400_000:
                message["result"]["t"] = str(int(message["result"]["t"]) + 7)
            yield message

    exchange.stream = broken_for_a_while
    received = await watched(exchange, "1m", 500.0)
    greeting, *reports, last = sentences(received)
    assert ["for 3 min" in reports[0], "for 6 min" in reports[1], len(reports)] == [True, True, 2]
    assert "times time off the grid" in reports[0]
    assert last == greeting and received.forming


async def test_a_streamed_volume_in_the_quote_currency_is_noticed() -> None:
    received = await watched(htx(60_000, 0, streamed_price=PRICE), "1m", 300.0)
    late = [each for each in received.forming if each.open_time_ms >= received.live[2].open_time_ms]
    assert late and max(each.volume for each in late) <= 6.0
    assert reasons(received) == {"a volume in the quote currency"}
    assert of(received, FeedVitals)[-1].close_delay_ms < 1_000.0


async def test_a_streamed_volume_of_unknown_currency_is_refused() -> None:
    exchange = gate("gate")
    whole = exchange.stream

    def without_base(texts: list[str]) -> Iterable[Any]:
        for message in whole(texts):
            del message["result"]["a"]
            yield message

    exchange.stream = without_base
    received = await watched(exchange, "1m", 20.0)
    assert reasons(received) == {"a candle with an empty cell"} and not received.forming


async def test_the_opening_time_of_a_row_is_not_its_end() -> None:
    def answer(request: web.Request) -> Any:
        since = datetime.fromisoformat(request.query["FromDate"]).replace(tzinfo=UTC)
        listed = rows_from(round(since.timestamp() * 1000), 60_000)
        return [[t + 60_000, h, low, o, c, v, 0, 0, 8, t] for t, o, h, low, c, v in listed]

    exchange = StreamingExchange("ndax", answer, {"BTC/CAD": "8"})
    received = await watched(exchange, "1m", 5.0)
    assert received.candles[-1].open_time_ms == open_of(now_ms(), 60_000) - 60_000
    assert received.steps_ms() == {60_000} and not reasons(received)
    assert "SubscribeTicker" not in exchange.sent, "its rows have any second"


# --- streams that are not there


def binance_rows(request: web.Request) -> Any:
    interval = Interval.parse(request.query["interval"])
    listed = rows_from(int(request.query["startTime"]), interval.duration_ms)
    return [[t, *map(str, (o, h, low, c, v)), t + 1, "0", 1, "0", "0", "0"] for t, o, h, low, c, v in listed]


def p2b_rows(_: web.Request) -> Any:
    listed = rows_from(now_ms() - 20 * 60_000, 60_000)
    named = [[t // 1000, *map(str, (o, c, h, low, v, v * c)), "BTC_USDT"] for t, o, h, low, c, v in listed]
    return {"success": True, "errorCode": "", "message": "", "result": named}


async def test_an_interval_that_ccxt_cannot_stream_is_served_by_trades() -> None:
    def trades(texts: list[str]) -> Iterable[Any]:
        if any("deals.subscribe" in text for text in texts):
            at_ms = now_ms()
            deal = {"id": at_ms, "time": at_ms / 1000.0, "price": "50.5", "amount": "0.1", "type": "buy"}
            yield {"method": "deals.update", "params": ["BTC_USDT", [deal]], "id": None}

    exchange = StreamingExchange("p2b", p2b_rows, {"BTC/USDT": "BTC_USDT"}, stream=trades)
    received = await watched(exchange, "1m", 150.0)
    from_trades = [each for each in received.forming if each.open_time_ms == received.live[-1].open_time_ms]
    assert len(received.live) == 2 and {each.close for each in from_trades} == {50.5}
    assert "kline" not in exchange.sent and received.states[-1] is FeedState.LIVE


async def test_a_market_without_any_stream_is_read_by_request() -> None:
    def answer(_: web.Request) -> Any:
        listed = rows_from(now_ms() - 20 * 60_000, 60_000)
        return {
            "data": [
                {"i": t // 1000, "is": t, "o": o, "h": h, "l": low, "c": c, "v": v} for t, o, h, low, c, v in listed
            ]
        }

    exchange = StreamingExchange("bitrue", answer, {"BTC/USDT": "BTCUSDT"})
    received = await watched(exchange, "1m", 150.0)
    assert len(received.live) == 2 and len(received.forming) >= 4
    assert set(received.states[2:]) == {FeedState.LIVE} and "so they are requested" in sentences(received)[-1]
    assert not exchange.sockets


async def test_markets_that_share_an_exchange_without_streams_are_read_by_request() -> None:
    def answer(_: web.Request) -> Any:
        listed = rows_from(now_ms() - 20 * 60_000, 60_000)
        named = [{"i": t // 1000, "is": t, "o": o, "h": h, "l": low, "c": c, "v": v} for t, o, h, low, c, v in listed]
        return {"data": named}

    exchange = StreamingExchange("bitrue", answer, {"BTC/USDT": "BTCUSDT", "ETH/USDT": "ETHUSDT"})
    markets = [Market("bitrue", symbol, Interval.parse("1m")) for symbol in exchange.markets or {}]
    async with exchange.running():
        feeds = open_feeds(markets, loop_time(), catch_up=3)
        enough = [record_events(feed, live(2)) for feed in feeds.values()]
        for received in await asyncio.gather(*enough):
            assert FeedState.RECONNECTING not in received.states and received.forming


def whitebit_rows(request: web.Request) -> Any:
    listed = rows_from(int(request.query["start"]) * 1000, 6 * HOUR_MS)
    return {
        "success": True,
        "result": [[t // 1000, *map(str, (o, c, h, low, v, v * c))] for t, o, h, low, c, v in listed],
    }


async def test_no_subscription_without_an_interval_is_sent() -> None:
    exchange = StreamingExchange("whitebit", whitebit_rows, {"BTC/USDT": "BTC_USDT"})
    await watched(exchange, "6h", 5.0)
    assert "trades_subscribe" in exchange.sent and "candles" not in exchange.sent


def bingx(refuses: str, has_trades: bool) -> StreamingExchange:
    """refuses: in the names of streams that it does not have. ccxt reports a refusal to all streams of the socket."""
    refused: set[str] = set()

    def answer(request: web.Request) -> Any:
        interval = Interval.parse(request.query["interval"])
        listed = rows_from(int(request.query["startTime"]) + 1, interval.duration_ms)
        return {"code": 0, "timestamp": now_ms(), "data": [[*each, each[0] + 1, 1.0] for each in reversed(listed)]}

    def stream(texts: list[str]) -> Iterable[Any]:
        for request in [json.loads(text) for text in texts if "dataType" in text]:
            if refuses in request["dataType"]:
                if request["id"] not in refused:
                    refused.add(request["id"])
                    yield packed({"id": request["id"], "code": 100400, "msg": "dataType not supported"})
            elif "@trade" in request["dataType"] and has_trades:
                trade = {"e": "trade", "E": now_ms(), "s": "BTC-USDT", "t": str(now_ms()), "p": "50.5", "q": "0.1"}
                data = {**trade, "T": now_ms(), "m": True}
                yield packed({"code": 0, "dataType": request["dataType"], "success": True, "data": data})
            elif "@kline" in request["dataType"]:
                t, o, h, low, c, v = row(open_of(now_ms(), 4 * HOUR_MS), 4 * HOUR_MS)
                kline = {"t": t, "T": t + 1, "o": o, "h": h, "l": low, "c": c, "v": v, "s": "BTC-USDT", "i": "4hour"}
                data = {"E": now_ms(), "e": "kline", "s": "BTC-USDT", "K": kline}
                yield packed({"code": 0, "dataType": request["dataType"], "success": True, "data": data})

    def packed(message: dict[str, Any]) -> bytes:
        return gzip.compress(json.dumps(message).encode())

    return StreamingExchange("bingx", answer, {"BTC/USDT": "BTC-USDT"}, stream=stream)


async def test_the_stream_has_the_exchanges_own_name_for_an_interval() -> None:
    exchange = bingx(refuses='kline_4h"', has_trades=True)
    received = await watched(exchange, "4h", 20.0)
    assert "kline_4hour" in exchange.sent
    assert len({each.volume for each in received.forming}) > 10


@pytest.mark.parametrize("has_trades", [True, False])
async def test_a_refused_candle_stream_leaves_the_trades(has_trades: bool) -> None:
    received = await watched(bingx(refuses="kline", has_trades=has_trades), "4h", 40.0)
    assert received.states[-1] is FeedState.LIVE and FeedState.FAILED not in received.states
    assert "no stream of candles" in reasons(received)
    assert of(received, FeedVitals)[-1].trades >= (30 if has_trades else 0)
    assert ("so they are requested" in sentences(received)[-1]) is not has_trades


# --- rows that do not come as others do


def upbit_candle(back: int = 0) -> dict[str, Any]:
    text = datetime.fromtimestamp(now_ms() // 1000 - back, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    prices = dict.fromkeys(("opening_price", "high_price", "low_price", "trade_price"), PRICE)
    amounts = {"candle_acc_trade_volume": 0.5, "candle_acc_trade_price": 25.0}
    code = {"type": "candle.1s", "code": "KRW-ETH", "candle_date_time_utc": text, "candle_date_time_kst": text}
    return {**code, **prices, **amounts, "timestamp": now_ms(), "stream_type": "REALTIME"}


async def test_a_stream_of_single_rows_is_read() -> None:
    def answer(_: web.Request) -> Any:
        return [upbit_candle(back) for back in range(20)]

    def stream(texts: list[str]) -> Iterable[Any]:
        if any("candle.1s" in text for text in texts):
            yield json.dumps(upbit_candle()).encode()

    exchange = StreamingExchange("upbit", answer, {"ETH/KRW": "KRW-ETH"}, stream=stream)
    received = await watched(exchange, "1s", 15.0)
    assert len({each.open_time_ms for each in received.forming}) > 5
    assert received.states[-1] is FeedState.LIVE and "made" not in " ".join(reasons(received))


def mexc_message() -> bytes:
    """A candle in protobuf, as MEXC's streams have had it since August 2025."""
    from ccxt.protobuf.mexc import PushDataV3ApiWrapper_pb2  # noqa: PLC0415 - as ccxt imports it

    message = PushDataV3ApiWrapper_pb2.PushDataV3ApiWrapper()
    message.channel, message.symbol = "spot@public.kline.v3.api.pb@BTCUSDT@Min1", "BTCUSDT"
    t, o, h, low, c, v = row(open_of(now_ms(), 60_000), 60_000)
    kline = message.publicSpotKline
    kline.interval, kline.windowStart, kline.windowEnd = "Min1", t // 1000, t // 1000 + 60
    kline.openingPrice, kline.highestPrice, kline.lowestPrice, kline.closingPrice = map(str, (o, h, low, c))
    kline.volume, kline.amount = str(v), str(v * c)
    return bytes(message.SerializeToString())


async def test_streams_in_protobuf_are_read() -> None:
    def answer(request: web.Request) -> Any:
        listed = rows_from(int(request.query["startTime"]), 60_000)
        return [[t, *map(str, (o, h, low, c, v)), t + 60_000, str(v * c)] for t, o, h, low, c, v in listed]

    def stream(texts: list[str]) -> Iterable[Any]:
        if any("kline" in text for text in texts):
            yield mexc_message()

    received = await watched(StreamingExchange("mexc", answer, {"BTC/USDT": "BTCUSDT"}, stream=stream), "1m", 20.0)
    assert len(received.forming) > 10 and not reasons(received)


def deribit_burst(symbol: str, count: int) -> dict[str, Any]:
    trades = [
        {"trade_id": f"{now_ms()}{symbol}{index}", "timestamp": now_ms(), "price": PRICE, "amount": 0.1}
        for index in range(count)
    ]
    named = [{**trade, "instrument_name": symbol, "direction": "buy", "trade_seq": 1} for trade in trades]
    return {
        "jsonrpc": "2.0",
        "method": "subscription",
        "params": {"channel": f"trades.{symbol}.100ms", "data": named},
    }


async def trades_of(session: CcxtSession, symbols: list[str], for_s: float) -> dict[str, int]:
    """How many each market's inbox received."""
    interval = Interval.parse("1m")
    venues = {symbol: CcxtVenue(Market(session.venue, symbol, interval), None, 5.0, session) for symbol in symbols}
    counts = dict.fromkeys(symbols, 0)
    for venue in venues.values():
        await venue.open(None)
        await venue.updates(0.0)
    await asyncio.sleep(for_s)
    for symbol, venue in venues.items():
        counts[symbol] += len((await venue.updates(0.0)).trades)
        await venue.close()
    return counts


async def test_all_trades_of_a_burst_come_though_ccxt_replaces_its_cache() -> None:
    names = {"BTC/USDC": "BTC_USDC", "ETH/USDC": "ETH_USDC"}

    def stream(texts: list[str]) -> Iterable[Any]:
        if any("trades." in text for text in texts):
            for name in names.values():
                yield deribit_burst(name, 3)
                yield deribit_burst(name, 2)

    exchange = StreamingExchange("deribit", nothing, names, stream=stream)  # type: ignore[arg-type]
    async with exchange.running():
        session = CcxtSession("deribit", list(names), Interval.parse("1m"), None, 5.0)
        counts = await trades_of(session, list(names), 10.5)
    assert set(counts.values()) <= {45, 50} and min(counts.values()) >= 45


@pytest.mark.parametrize("symbols", [["BTC/USDC"], ["BTC/USDC", "ETH/USD"]])
async def test_trades_come_once_though_the_exchange_names_another_market(symbols: list[str]) -> None:
    """Coinbase sends those of USDC under the name of USD."""

    def stream(texts: list[str]) -> Iterable[Any]:
        requested = {name for text in texts if "market_trades" in text for name in json.loads(text)["product_ids"]}
        time = datetime.fromtimestamp(now_ms() / 1000.0, UTC).isoformat().replace("+00:00", "Z")
        for index, name in enumerate(sorted(requested)):
            trade = {"trade_id": f"{now_ms()}{index}", "price": "50.5", "size": "0.1", "side": "BUY", "time": time}
            named = {**trade, "product_id": name.replace("USDC", "USD")}
            event = {"type": "update", "trades": [named]}
            yield {"channel": "market_trades", "timestamp": time, "sequence_num": 1, "events": [event]}

    names = {"BTC/USDC": "BTC-USDC", "BTC/USD": "BTC-USD", "ETH/USD": "ETH-USD"}
    exchange = StreamingExchange("coinbase", nothing, names, stream=stream)  # type: ignore[arg-type]
    async with exchange.running():
        session = CcxtSession("coinbase", symbols, Interval.parse("1m"), None, 5.0)
        counts = await trades_of(session, symbols, 20.5)
    assert set(counts.values()) <= {19, 20}
