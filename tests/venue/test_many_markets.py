"""Markets of one exchange: one connection, one queue of requests, and what concerns one market stays with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ccxt
import pytest

from core.domain.candle import Market
from core.market.feeds import ccxt_session
from core.market.feeds.base import FeedState, MissingCandles, RejectedMessage
from core.market.feeds.ccxt_objects import make_exchange
from core.market.feeds.ccxt_session import CcxtVenue
from core.market.feeds.exchange import ExchangeFeed
from tests.support.fault_proxy import Refuse
from tests.venue.hall import FEW, MARKETS, Hall, hall, minute_hall
from tests.venue.rig import FAST, STEP_MS, correct

ONE = FEW[-1]
OTHERS = tuple(market for market in FEW if market is not ONE)


def assert_whole(found: Hall) -> None:
    for market in found.received:
        found.assert_whole(market)


@pytest.mark.parametrize("count", [2, 10])
async def test_markets_share_one_connection(tmp_path: Path, count: int) -> None:
    async with hall(tmp_path, markets=MARKETS[:count]) as found:
        await found.live(5)
        assert found.exchange.sockets_opened == found.exchange.sockets == 1
        assert found.asked("exchangeInfo") == 1, "all markets are described in one answer"
        assert set(found.reconnects().values()) == {0}
        assert_whole(found)


async def test_without_streams_of_many_symbols_each_is_watched_on_the_same_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_by_one(*arguments: object) -> object:
        exchange = make_exchange(*arguments)  # type: ignore[arg-type]
        exchange.has["watchOHLCVForSymbols"] = exchange.has["watchTradesForSymbols"] = False
        return exchange

    monkeypatch.setattr(ccxt_session, "make_exchange", one_by_one)
    async with hall(tmp_path) as found:
        await found.passed(6)  # ccxt sends four subscriptions a second
        await found.live(4)
        assert found.exchange.sockets_opened == 1
        assert_whole(found)


async def test_after_a_cut_all_are_back_filled_over_one_new_connection(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        closed = {market: len(each.closed) - len(each.live) for market, each in found.received.items()}
        found.venue.proxy.put(Refuse())
        found.exchange.cut()
        await found.passed(10)
        found.venue.heal()
        await found.live(3)
        assert found.exchange.sockets_opened == 2
        for market, each in found.received.items():
            assert len(each.closed) - len(each.live) >= closed[market] + 8, "those of the break are not live"
        assert_whole(found)


async def test_a_dead_connection_is_replaced_once_for_all(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        found.exchange.stall()
        await found.until(lambda: all(found.reconnects().values()), "all to notice")
        found.exchange.resume()
        await found.live(3)
        assert found.exchange.sockets == 1 and found.exchange.sockets_opened <= 4
        assert_whole(found)


@pytest.mark.parametrize("event", ["shut_down", "end_of_day"])
async def test_an_ended_connection_is_replaced_once_for_all(tmp_path: Path, event: str) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        getattr(found.exchange, event)()
        await found.until(lambda: all(found.reconnects().values()), "all to reconnect")
        await found.live(3)
        assert found.exchange.sockets_opened == 2
        assert_whole(found)


async def test_the_connection_is_renewed_before_its_end_once_for_all(tmp_path: Path) -> None:
    async with hall(tmp_path, replace(FAST, renew_s=60.0, steady_s=5.0)) as found:
        await found.live(2)
        await found.passed(65)
        await found.live(3)
        assert found.exchange.sockets_opened == 2
        assert set(found.reconnects().values()) == {1}
        assert_whole(found)


async def test_after_a_sleep_all_are_back_filled_over_one_new_connection(tmp_path: Path) -> None:
    async with hall(tmp_path, replace(FAST, steady_s=5.0)) as found:
        await found.live(2)
        await found.passed(5)
        found.clock.fall_asleep(60_000)
        await found.until(lambda: all(found.reconnects().values()), "all to notice")
        await found.live(3)
        assert found.exchange.sockets_opened == 2 and set(found.reconnects().values()) == {1}
        assert all("slept" in each.sentences(FeedState.RECONNECTING) for each in found.received.values())
        assert_whole(found)


@pytest.mark.parametrize("sends_final", [True, False], ids=["closed by the stream", "closed by request"])
async def test_a_demanded_wait_stops_the_queue_and_no_stream(tmp_path: Path, sends_final: bool) -> None:
    async with hall(tmp_path, sends_final=sends_final) as found:
        await found.live(2)
        hold = found.holds.of("binance")
        found.exchange.answer(429, retry_after_s=15)
        await found.until(lambda: hold.left_s > 0.0, "the wait")
        asked = len(found.exchange.requests)
        forming = {market: len(each.forming) for market, each in found.received.items()}
        await found.until(lambda: hold.left_s < 1.0, "its end")
        assert found.exchange.requests[asked:] == [], "nobody sends a request, not even one that was waiting"
        assert all(len(each.forming) > forming[market] + 30 for market, each in found.received.items())
        found.exchange.resume()
        await found.live(5)
        assert found.exchange.sockets_opened == 1 and set(found.reconnects().values()) == {0}
        assert_whole(found)


async def test_a_demanded_wait_during_the_start_is_kept_by_all_ten(tmp_path: Path) -> None:
    async with hall(tmp_path, markets=MARKETS) as found:
        found.exchange.answer(429, retry_after_s=20)
        await found.until(lambda: all(found.reconnects().values()), "all to wait")
        assert len(found.exchange.requests) == 1, "the first answer stopped the others"
        found.exchange.resume()
        await found.live(2)
        assert_whole(found)


async def test_a_market_that_the_exchange_does_not_have_fails_alone(tmp_path: Path) -> None:
    async with hall(tmp_path, unknown=(ONE.symbol,)) as found:
        await found.live(3, but=(ONE,))
        assert found.received[ONE].state is FeedState.FAILED
        assert ONE.symbol in found.received[ONE].sentences(FeedState.FAILED)
        assert found.exchange.sockets_opened == 1
        for market in OTHERS:
            found.assert_whole(market)


async def test_a_market_that_is_delisted_fails_alone(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        found.exchange.delist(ONE.symbol)
        await found.until(lambda: found.received[ONE].state is FeedState.FAILED, "its failure")
        await found.live(3, but=(ONE,))
        assert "no spot market" in found.received[ONE].sentences(FeedState.FAILED)
        assert found.exchange.sockets_opened == 1
        assert {found.reconnects()[market.symbol] for market in OTHERS} == {0}
        for market in OTHERS:
            found.assert_whole(market)


async def test_a_market_whose_stream_falls_silent_leaves_the_others_alone(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        found.exchange.muted.add(ONE.symbol)
        await found.until(lambda: found.reconnects()[ONE.symbol] >= 2, "its reconnects")
        assert found.exchange.sockets_opened == 1
        assert {found.reconnects()[market.symbol] for market in OTHERS} == {0}
        stored = len(found.store.load(ONE))
        await found.passed(15)
        assert len(found.store.load(ONE)) > stored + 5, "its candles come by request"
        found.exchange.muted.clear()
        await found.live(3)
        assert_whole(found)


async def test_a_refused_subscription_of_one_market_leaves_the_others_alone(tmp_path: Path) -> None:
    """They are subscribed together, so the refusal is one of all."""
    async with hall(tmp_path, refused=(ONE.symbol,)) as found:
        await found.passed(8)
        await found.live(5, but=(ONE,))
        assert found.exchange.sockets_opened == 1
        assert {found.reconnects()[market.symbol] for market in OTHERS} == {0}
        stored = len(found.store.load(ONE))
        await found.passed(15)
        assert len(found.store.load(ONE)) > stored + 5, "its candles come by request"
        assert found.received[ONE].forming == [] and all(len(found.received[each].forming) > 50 for each in OTHERS)
        found.exchange.refused.clear()
        await found.passed(60)
        await found.live(3)
        assert len(found.received[ONE].forming) > 50, "it was subscribed to again"
        assert found.exchange.sockets_opened == 1
        assert_whole(found)


async def test_a_refusal_that_ccxt_reports_to_every_stream_ends_none(tmp_path: Path) -> None:
    """As it does at OKX. The end of the socket is noticed nevertheless."""
    async with hall(tmp_path) as found:
        await found.live(2)
        for _ in range(2):
            for client in venue_of(found, ONE)._exchange.clients.values():
                client.reject(ccxt.BadRequest('okx {"event":"error","code":"60018"}'))
            await found.live(2)
        assert found.exchange.sockets_opened == 1 and set(found.reconnects().values()) == {0}
        found.exchange.cut()
        await found.until(lambda: all(found.reconnects().values()), "all to reconnect")
        await found.live(2)
        assert found.exchange.sockets_opened == 2
        assert_whole(found)


def venue_of(found: Hall, market: Market) -> CcxtVenue:
    feed = found.feeds[market]
    assert isinstance(feed, ExchangeFeed) and feed._connection is not None
    venue = feed._connection.venue
    assert isinstance(venue, CcxtVenue)
    return venue


async def test_a_delisted_market_is_not_subscribed_to_again(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        found.exchange.delist(ONE.symbol)
        await found.until(lambda: found.received[ONE].state is FeedState.FAILED, "its failure")
        found.exchange.refused.add(ONE.symbol)
        found.exchange.cut()
        await found.until(lambda: all(found.reconnects()[market.symbol] for market in OTHERS), "all to reconnect")
        await found.live(3, but=(ONE,))
        for market in OTHERS:
            rejected = [report for report in found.received[market].reports if isinstance(report, RejectedMessage)]
            assert rejected == [], "the new subscription was refused"
            found.assert_whole(market)


async def test_an_old_connection_that_brings_nothing_of_one_market_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.market.feeds.many._RENEWED_AFTER_S", 20.0)
    async with hall(tmp_path) as found:
        await found.live(2)
        await found.passed(20)
        found.exchange.muted.add(ONE.symbol)
        await found.until(lambda: found.exchange.sockets_opened == 2, "another connection")
        reconnects = found.reconnects()[ONE.symbol]
        await found.passed(30)
        assert found.exchange.sockets_opened == 2 and found.reconnects()[ONE.symbol] > reconnects + 1, (
            "not so soon again"
        )
        found.exchange.muted.clear()
        await found.live(3)
        assert "brings nothing of one market" in found.received[OTHERS[0]].sentences(FeedState.RECONNECTING)
        assert_whole(found)


async def test_a_hole_belongs_to_its_market(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        hidden_ms = found.received[ONE].live[-1].open_time_ms + 3 * STEP_MS
        found.exchange.markets[ONE.symbol].hidden.add(hidden_ms)
        await found.live(6)
        for market, each in found.received.items():
            missing = [report for report in each.reports if isinstance(report, MissingCandles)]
            assert missing == ([MissingCandles(hidden_ms, 1)] if market is ONE else [])
            found.assert_whole(market, frozenset({hidden_ms}) if market is ONE else frozenset())


async def test_a_correction_belongs_to_its_market(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(2)
        open_ms = found.received[ONE].live[-1].open_time_ms
        correct(found.exchange.markets[ONE.symbol], open_ms)
        await found.until(lambda: bool(found.received[ONE].corrected), "the correction")
        assert [candle.open_time_ms for candle in found.received[ONE].corrected] == [open_ms]
        assert not any(found.received[market].corrected for market in OTHERS)
        assert_whole(found)


async def test_markets_close_one_after_another_and_the_last_closes_the_connection(tmp_path: Path) -> None:
    async with hall(tmp_path) as found:
        await found.live(1)
        feeds = list(found.feeds.values())
        for feed in feeds[:-1]:
            await feed.aclose()
        assert found.exchange.sockets == 1
        last = found.received[FEW[-1]]
        live = len(last.live)
        await found.until(lambda: len(last.live) >= live + 2, "the last one's candles")
        await feeds[-1].aclose()
        await found.until(lambda: found.exchange.is_deserted.is_set(), "the end of the connection", 2.0)


@pytest.mark.parametrize("venue", ["kraken", "coinbase"])
async def test_other_exchanges_stream_several_markets_over_one_connection(venue: str, tmp_path: Path) -> None:
    """Kraken has a stream of candles for each market, Coinbase one message for the trades of all."""
    async with minute_hall(tmp_path, venue, ["BTC/USD", "ADA/USD", "ETH/USD"]) as found:
        await found.live(3)
        found.exchange.cut()
        await found.until(lambda: all(found.reconnects().values()), "all to reconnect")
        await found.live(2)
        assert found.exchange.sockets_opened == 2
        for market, each in found.received.items():
            served = found.exchange.markets[market.symbol]
            assert len(each.forming) > 10
            for formed in each.forming:
                final = served.truth(formed.open_time_ms)
                assert final.low <= formed.low and formed.high <= final.high and formed.open == final.open
        assert_whole(found)
