"""Exchange errors: refusals are distinguished, requested waits kept, and final errors end the feed at once."""

from __future__ import annotations

import asyncio
import itertools
import socket
import ssl
from collections.abc import Callable
from dataclasses import replace
from random import Random

import ccxt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.backoff import Backoff
from core.domain.candle import Interval, Market
from core.domain.venue_names import next_venue
from core.market.feeds import bounded_answers
from core.market.feeds.base import FeedError, FeedState, FeedStatus, StoredCandles
from core.market.feeds.exchange import ExchangeFeed, probe
from core.market.feeds.many import open_feeds
from core.market.feeds.trouble import LONGEST_BAN_S, UNBELIEVED_WAIT_S, HttpResponse, explain
from core.market.feeds.venue import ExchangeUrls
from tests.support.candles import random_walk
from tests.support.feeds import RecordedEvents, record_events
from tests.support.virtual_network import loop_time
from tests.venue.rig import FAST, MARKET, SECOND, a_feed, an_exchange

NOWHERE = ExchangeUrls("http://127.0.0.1:9/api/v3", "ws://127.0.0.1:9/ws")
"""Nobody listens there."""


def reconnecting(times: int) -> Callable[[RecordedEvents], bool]:
    return lambda received: received.states.count(FeedState.RECONNECTING) >= times


@pytest.mark.parametrize(
    ("market", "words"),
    [
        (Market("binance", "BTC/XYZ", SECOND), "BTC/XYZ"),
        (Market("binance", "BTC/USDT", Interval.parse("7m")), "7m"),
        (Market("binanse", "BTC/USDT", SECOND), "binance"),
        (Market("coinbase", "BTC/USD", Interval.parse("1m")), "Choose another exchange"),
    ],
)
async def test_a_permanent_error_ends_the_feed_at_once(market: Market, words: str) -> None:
    async with an_exchange() as exchange:
        with pytest.raises(FeedError) as raised:
            await record_events(ExchangeFeed(market, loop_time(), urls=exchange.urls, times=FAST))
        assert words in str(raised.value)


@pytest.mark.parametrize(
    "market",
    [
        pytest.param(Market("binance", "BTC/XYZ", SECOND), id="not traded any more"),
        pytest.param(Market("binance", "BTC/USDT", Interval.parse("7m")), id="an interval that nobody has"),
        pytest.param(Market("binance", "BTC/USDT", Interval.parse("3m")), id="an interval that it refuses"),
        pytest.param(Market("gonebust", "BTC/USDT", SECOND), id="no exchange any more"),
    ],
)
async def test_stored_candles_unknown_to_any_exchange_are_shown_without_an_error(market: Market) -> None:
    stored = StoredCandles(random_walk(3, interval=market.interval))
    async with an_exchange() as exchange:
        received = await record_events(ExchangeFeed(market, loop_time(), urls=exchange.urls, times=FAST), known=stored)
    assert (
        received.states[-1] is FeedState.ENDED
        and FeedState.RECONNECTING not in received.states
        and not received.candles
    )
    assert market.symbol in received.sentence(FeedState.ENDED) and "stored" in received.sentence(FeedState.ENDED)


async def test_stored_candles_do_not_hide_an_error_another_exchange_would_solve() -> None:
    async with an_exchange() as exchange:
        exchange.answer(451)
        with pytest.raises(FeedError, match="451"):
            await record_events(a_feed(exchange.urls), known=StoredCandles(random_walk(3, interval=SECOND)))


async def test_a_refused_interval_is_named_without_advising_another_exchange() -> None:
    market = Market("binance", "BTC/USDT", Interval.parse("3m"))
    async with an_exchange() as exchange:
        with pytest.raises(FeedError) as raised:
            await record_events(ExchangeFeed(market, loop_time(), urls=exchange.urls, times=FAST))
    said = str(raised.value)
    assert "no candles of 3m" in said and "Choose another interval" in said
    assert "venue" not in said and "{" not in said


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ('binance {"code":-1102,"msg":"Parameter is missing."}', "Parameter is missing"),
        ('binance {"code":-1102,"msg":""}', "-1102"),
        ("binance {odd", "{odd"),
        ('binance [{"msg": 1}]', "msg"),
    ],
)
def test_the_message_of_a_json_refusal_is_shown(sent: str, words: str) -> None:
    explained = str(explain(ccxt.BadRequest(sent), "Binance", HttpResponse()))
    assert (
        words in explained and "Binance refused the request" in explained and "code" not in explained.replace(sent, "")
    )


async def test_a_refused_stream_is_reported_while_requests_deliver_candles() -> None:
    async with an_exchange() as exchange:
        urls = ExchangeUrls(exchange.urls.public, exchange.urls.ws.replace("/ws", "/nothing"))
        received = await record_events(a_feed(urls), until=reconnecting(3))
        assert len(received.candles) >= 10
        assert FeedState.LIVE not in received.states


async def _deaf_server() -> asyncio.Server:
    """Accepts connections and never responds."""

    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            writer.close()

    return await asyncio.start_server(keep_silent, "127.0.0.1", 0)


async def test_an_unresponsive_exchange_times_out() -> None:
    async with await _deaf_server() as server:
        port = server.sockets[0].getsockname()[1]
        urls = ExchangeUrls(f"http://127.0.0.1:{port}/api/v3", f"ws://127.0.0.1:{port}/ws")
        async with asyncio.timeout(FAST.request_s + 0.5):
            received = await record_events(a_feed(urls), until=reconnecting(1))
        assert "did not answer" in received.sentence(FeedState.RECONNECTING)
        async with asyncio.timeout(0.3 + 0.5):
            assert "did not answer" in str(await probe(MARKET, urls, 0.3, loop_time()))


async def test_an_answer_is_cut_off_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_answers, "LARGEST_BYTES", 100)
    async with an_exchange() as exchange:
        received = await record_events(a_feed(exchange.urls), until=reconnecting(1))
    assert "its answer was cut off" in received.sentence(FeedState.RECONNECTING)


async def test_a_probe_explains_only_an_exchange_that_does_not_answer() -> None:
    clock = loop_time()
    async with an_exchange() as exchange:
        assert await probe(MARKET, exchange.urls, 5.0, clock) is None
        exchange.answer(451)
        assert "451" in str(await probe(MARKET, exchange.urls, 5.0, clock))
        exchange.resume()
        unknown = Market("binance", "NO/WHERE", SECOND)
        assert "NO/WHERE" in str(await probe(unknown, exchange.urls, 5.0, clock))
    assert "no network" in str(await probe(MARKET, NOWHERE, 5.0, clock))


@pytest.mark.parametrize(("status", "is_final"), [(451, True), (403, False), (503, False)])
async def test_the_next_venue_is_offered_if_the_exchange_is_at_fault(status: int, is_final: bool) -> None:
    async with an_exchange() as exchange:
        exchange.answer(status)
        feed = a_feed(exchange.urls, fallback_venues=("binance", "kraken", "coinbase"))
        if is_final:
            with pytest.raises(FeedError) as raised:
                await record_events(feed)
            assert raised.value.next_venue == "kraken"
        else:
            received = await record_events(feed, until=reconnecting(1))
            said = next(each for each in received.events if getattr(each, "state", None) is FeedState.RECONNECTING)
            assert isinstance(said, FeedStatus) and said.next_venue == "kraken" and "Kraken" in said.sentence


async def test_another_venue_is_offered_only_after_a_long_network_outage() -> None:
    received = await record_events(a_feed(NOWHERE, fallback_venues=("kraken",)), until=reconnecting(4))
    offers = [each.next_venue for each in received.events if isinstance(each, FeedStatus)]
    assert offers[1:] == [None, None, "kraken", "kraken"]
    assert "no network" in received.sentence(FeedState.RECONNECTING)


async def test_another_venue_is_offered_to_each_of_several_markets_that_wait_for_one_another() -> None:
    """The wait for the requests of the others is no steady connection."""
    markets = [Market("binance", f"{base}/USDT", SECOND) for base in ("ADA", "BTC", "ETC", "ETH", "XMR")]
    async with await _deaf_server() as server:
        port = server.sockets[0].getsockname()[1]
        feeds = open_feeds(
            markets,
            loop_time(),
            urls=ExchangeUrls(f"http://127.0.0.1:{port}/api/v3", f"ws://127.0.0.1:{port}/ws"),
            times=replace(FAST, steady_s=2.0 * FAST.request_s),
            fallback_venues=("kraken",),
            make_backoff=lambda: Backoff(0.5, 2.0, Random(1)),
        )
        found = await asyncio.gather(*(record_events(feed, until=reconnecting(3)) for feed in feeds.values()))
    for received in found:
        offers = [each.next_venue for each in received.events if isinstance(each, FeedStatus)]
        assert offers == [None, None, None, "kraken"]


async def test_closing_ends_the_wait_for_the_next_attempt() -> None:
    feed = ExchangeFeed(MARKET, loop_time(), urls=NOWHERE, times=FAST, backoff=Backoff(600.0, 600.0))
    is_waiting = asyncio.Event()

    async def iterate() -> None:
        async for event in feed.events():
            if isinstance(event, FeedStatus) and event.state is FeedState.RECONNECTING:
                is_waiting.set()

    task = asyncio.create_task(iterate())
    await is_waiting.wait()
    async with asyncio.timeout(1.0):
        await feed.aclose()
        await task


def test_the_next_venue_follows_the_order() -> None:
    order = ("binance", "kraken", "coinbase")
    assert [next_venue(order, venue) for venue in (*order, "okx")] == ["kraken", "coinbase", "binance", "binance"]
    assert next_venue((), "binance") is None
    assert next_venue(("binance",), "binance") is None


@pytest.mark.parametrize(
    ("cause", "word"),
    [
        (socket.gaierror(-2, "Name or service not known"), "DNS"),
        (ssl.SSLCertVerificationError(1, "certificate has expired"), "date"),
        (ssl.SSLError(1, "wrong version number"), "encrypted"),
        (OSError(113, "No route to host"), "no network"),
    ],
)
def test_network_errors_are_distinguished_however_they_are_wrapped(cause: OSError, word: str) -> None:
    by_request = ccxt.ExchangeNotAvailable("binance GET")
    by_request.__cause__ = cause
    by_stream = ccxt.NetworkError(cause)
    for error in (by_request, by_stream):
        explained = explain(error, "Binance", HttpResponse(), is_stream=error is by_stream)
        assert word in str(explained) and not explained.is_final


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "30"}, 30.0),
        ({"retry-after": " 7 "}, 7.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:29:00 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 60.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:27:00 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "Wed, 21 Oct 2015 07:29:00 GMT"}, None),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
def test_a_requested_wait_is_read_in_both_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert HttpResponse(429, headers).retry_after_s == seconds


@pytest.mark.parametrize("asked", ["1000000000", "9" * 400, "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_an_endless_wait_becomes_an_hour(asked: str) -> None:
    answer = HttpResponse(429, {"retry-after": asked, "date": "Mon, 23 Nov 2026 04:00:00 GMT"})
    assert answer.retry_after_s == UNBELIEVED_WAIT_S
    assert "years, which is ignored; the next attempt is in an hour" in answer.ignored_wait_notice
    said = str(explain(ccxt.RateLimitExceeded("slow down"), "Binance", answer))
    assert said.startswith("Binance") and said.endswith(answer.ignored_wait_notice)


@pytest.mark.parametrize(
    ("asked", "wait_s", "is_believed"),
    [("5", 5.0, True), (f"{LONGEST_BAN_S:.0f}", LONGEST_BAN_S, True), ("259201", UNBELIEVED_WAIT_S, False)],
)
def test_the_longest_real_ban_is_respected(asked: str, wait_s: float, is_believed: bool) -> None:
    answer = HttpResponse(418, {"retry-after": asked})
    assert answer.retry_after_s == wait_s
    assert (answer.ignored_wait_notice == "") is is_believed


@given(st.integers(0, 2**32), st.floats(0.01, 5.0), st.floats(5.0, 100.0), st.floats(0.0, 50.0))
def test_waits_grow_to_their_limit_and_respect_the_requested_minimum(
    seed: int, first_s: float, longest_s: float, demanded_s: float
) -> None:
    backoff = Backoff(first_s, longest_s, Random(seed))
    waits = [backoff.next_s() for _ in range(40)]
    assert all(wait <= longest_s for wait in waits)
    assert waits[0] <= first_s
    assert waits[-1] >= longest_s / 2.0
    assert all(later >= earlier / 2.0 for earlier, later in itertools.pairwise(waits))
    assert backoff.next_s(demanded_s) >= demanded_s
    backoff.reset()
    assert backoff.next_s() <= first_s
