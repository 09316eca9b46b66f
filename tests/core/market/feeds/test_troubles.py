"""What an exchange does to one: refusals told apart, waits kept, and final ones ended at once."""

from __future__ import annotations

import asyncio
import itertools
import socket
import ssl
import time
from random import Random

import ccxt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.clock import SystemClock
from core.market.candle import Interval, Market
from core.market.fallback import next_venue
from core.market.feeds.backoff import Backoff
from core.market.feeds.base import FeedError, FeedState, FeedStatus
from core.market.feeds.exchange import ExchangeFeed, ExchangeTimes, probe
from core.market.feeds.trouble import Answer, explain
from core.market.feeds.urls import ExchangeUrls
from tests.support.feeds import Heard, hear
from tests.support.loopback_exchange import LoopbackExchange
from tests.support.tape import generated_tape

SECOND = Interval.parse("1s")
MARKET = Market("binance", "BTC/USDT", SECOND)
NOWHERE = ExchangeUrls("http://127.0.0.1:9/api/v3", "ws://127.0.0.1:9/ws")
"""The discard port: nobody listens there."""


def an_exchange() -> LoopbackExchange:
    return LoopbackExchange(generated_tape(SECOND, time.time_ns() // 1_000_000, history=30, future=300), push_s=0.02)


def a_feed(urls: ExchangeUrls, market: Market = MARKET, request_s: float = 2.0) -> ExchangeFeed:
    times = ExchangeTimes(request_s=request_s, first_look_s=0.02, retry_s=0.02)
    backoff = Backoff(first_s=0.05, longest_s=0.2, random=Random(1))
    return ExchangeFeed(market, SystemClock(), catch_up=5, urls=urls, times=times, backoff=backoff)


def is_reconnecting(heard: Heard) -> bool:
    return FeedState.RECONNECTING in heard.states


@pytest.mark.venue
@pytest.mark.parametrize(
    ("market", "words"),
    [
        (Market("binance", "BTC/XYZ", SECOND), "BTC/XYZ"),
        (Market("binance", "BTC/USDT", Interval.parse("7m")), "7m"),
        (Market("binanse", "BTC/USDT", SECOND), "binance"),
        (Market("coinbase", "BTC/USD", Interval.parse("1m")), "Choose another venue"),
    ],
)
def test_what_waiting_cannot_mend_ends_the_feed_at_once(market: Market, words: str) -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            with pytest.raises(FeedError) as raised:
                await hear(a_feed(exchange.urls, market), within_s=60.0)
            assert words in str(raised.value)

    asyncio.run(scenario())


@pytest.mark.venue
def test_a_closed_country_ends_the_feed_at_once() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            exchange.answer(451, body='{"code":0,"msg":"Service unavailable from a restricted location"}')
            with pytest.raises(FeedError, match="location"):
                await hear(a_feed(exchange.urls), within_s=60.0)

    asyncio.run(scenario())


@pytest.mark.venue
@pytest.mark.parametrize(("status", "word"), [(429, "fewer"), (418, "shut"), (403, "firewall"), (503, "maintenance")])
def test_refusals_are_told_apart_and_the_wait_is_the_one_asked_for(status: int, word: str) -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            exchange.answer(status, retry_after_s=77)
            heard = await hear(a_feed(exchange.urls), until=is_reconnecting, within_s=60.0)
            sentence = heard.sentence(FeedState.RECONNECTING)
            assert word in sentence
            assert str(status) in sentence
            assert "77 s" in sentence

    asyncio.run(scenario())


@pytest.mark.venue
def test_a_feed_that_was_refused_goes_on_when_it_may() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            exchange.answer(500)

            def let_in(heard: Heard) -> bool:
                if is_reconnecting(heard):
                    exchange.resume()
                return bool(heard.live)

            heard = await hear(a_feed(exchange.urls), until=let_in, within_s=60.0)
            assert len(heard.candles) >= 5
            assert heard.steps_ms() == {SECOND.duration_ms}

    asyncio.run(scenario())


@pytest.mark.venue
def test_a_stream_that_is_refused_says_so_while_requests_still_bring_candles() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            urls = ExchangeUrls(exchange.urls.public, exchange.urls.ws.replace("/ws", "/nothing"))
            heard = await hear(
                a_feed(urls), until=lambda heard: heard.states.count(FeedState.RECONNECTING) >= 3, within_s=60.0
            )
            assert len(heard.candles) >= 5
            assert FeedState.LIVE not in heard.states

    asyncio.run(scenario())


@pytest.mark.venue
def test_without_a_network_the_feed_says_so_and_goes_on_trying() -> None:
    async def scenario() -> None:
        heard = await hear(
            a_feed(NOWHERE), until=lambda heard: heard.states.count(FeedState.RECONNECTING) >= 3, within_s=60.0
        )
        assert "no network" in heard.sentence(FeedState.RECONNECTING)

    asyncio.run(scenario())


async def _deaf_server() -> asyncio.Server:
    """Takes connections and never says a word."""

    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.read()
        finally:
            writer.close()

    return await asyncio.start_server(keep_silent, "127.0.0.1", 0)


def _urls_of(server: asyncio.Server) -> ExchangeUrls:
    port = server.sockets[0].getsockname()[1]
    return ExchangeUrls(f"http://127.0.0.1:{port}/api/v3", f"ws://127.0.0.1:{port}/ws")


@pytest.mark.venue
def test_an_exchange_that_never_answers_is_given_up_in_time() -> None:
    async def scenario() -> None:
        async with await _deaf_server() as server:
            feed = a_feed(_urls_of(server), request_s=0.3)
            heard = await hear(feed, until=is_reconnecting, within_s=60.0)
            assert "did not answer" in heard.sentence(FeedState.RECONNECTING)
            assert "did not answer" in (await probe(MARKET, _urls_of(server), 0.3, SystemClock()) or "")

    asyncio.run(scenario())


@pytest.mark.venue
def test_a_probe_says_nothing_of_an_exchange_that_answers_and_why_another_does_not() -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            assert await probe(MARKET, exchange.urls, 5.0, SystemClock()) is None
            exchange.answer(451)
            assert "451" in (await probe(MARKET, exchange.urls, 5.0, SystemClock()) or "")
            exchange.resume()
            unknown = Market("binance", "NO/WHERE", SECOND)
            assert "NO/WHERE" in (await probe(unknown, exchange.urls, 5.0, SystemClock()) or "")
        assert "no network" in (await probe(MARKET, NOWHERE, 5.0, SystemClock()) or "")

    asyncio.run(scenario())


@pytest.mark.venue
@pytest.mark.parametrize(("status", "is_final"), [(451, True), (403, False), (503, False)])
def test_the_next_venue_of_the_users_order_is_offered_where_this_one_is_the_trouble(
    status: int, is_final: bool
) -> None:
    async def scenario() -> None:
        async with an_exchange() as exchange:
            exchange.answer(status)
            feed = ExchangeFeed(
                MARKET, SystemClock(), urls=exchange.urls, fallback_venues=("binance", "kraken", "coinbase")
            )
            if is_final:
                with pytest.raises(FeedError, match="Kraken") as raised:
                    await hear(feed, within_s=60.0)
                assert raised.value.next_venue == "kraken"
            else:
                heard = await hear(feed, until=is_reconnecting, within_s=60.0)
                said = next(each for each in heard.events if getattr(each, "state", None) is FeedState.RECONNECTING)
                assert isinstance(said, FeedStatus) and said.next_venue == "kraken" and "Kraken" in said.sentence

    asyncio.run(scenario())


@pytest.mark.venue
def test_a_network_that_is_down_is_no_reason_to_offer_another_venue_until_it_stays_down() -> None:
    async def scenario() -> None:
        backoff = Backoff(first_s=0.02, longest_s=0.05, random=Random(1))
        feed = ExchangeFeed(MARKET, SystemClock(), urls=NOWHERE, backoff=backoff, fallback_venues=("kraken",))
        heard = await hear(feed, until=lambda heard: heard.states.count(FeedState.RECONNECTING) >= 4, within_s=60.0)
        offers = [each.next_venue for each in heard.events if isinstance(each, FeedStatus)]
        assert offers[1:] == [None, None, "kraken", "kraken"]

    asyncio.run(scenario())


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
def test_faults_on_the_way_are_told_apart_however_they_are_wrapped(cause: OSError, word: str) -> None:
    by_request = ccxt.ExchangeNotAvailable("binance GET")
    by_request.__cause__ = cause
    by_stream = ccxt.NetworkError(cause)
    for error in (by_request, by_stream):
        told = explain(error, "Binance", Answer(), is_stream=error is by_stream)
        assert word in str(told) and not told.is_final


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
def test_a_wait_that_is_asked_for_is_read_in_both_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert Answer(429, headers).retry_after_s == seconds


@given(st.integers(0, 2**32), st.floats(0.01, 5.0), st.floats(5.0, 100.0), st.floats(0.0, 50.0))
def test_waits_grow_to_their_limit_and_are_never_shorter_than_asked(
    seed: int, first_s: float, longest_s: float, asked_s: float
) -> None:
    backoff = Backoff(first_s, longest_s, Random(seed))
    waits = [backoff.next_s() for _ in range(40)]
    assert all(wait <= longest_s for wait in waits)
    assert waits[0] <= first_s
    assert waits[-1] >= longest_s / 2.0
    assert all(later >= earlier / 2.0 for earlier, later in itertools.pairwise(waits))
    assert backoff.next_s(asked_s) >= asked_s
    backoff.reset()
    assert backoff.next_s() <= first_s
