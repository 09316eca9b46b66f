"""The choice of the feed, and the explanation if it is not the requested one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from core.domain.candle import FILE_VENUE, Market
from core.market.feeds.auto import BuiltFeed, build_feed
from core.market.feeds.base import FeedError, FeedKind, FeedState, FeedStatus
from core.market.feeds.replay import ReplayFeed, StoredFeed
from core.market.feeds.simulated import seed_of
from core.market.feeds.venue import ExchangeUrls
from core.market.history.errors import CandleFileError
from core.market.shown_names import SAMPLE_MARKET, replays_of
from core.settings.tree import MarketSettings
from tests.support.candles import MINUTE, random_walk, write_csv
from tests.support.feeds import record_events
from tests.support.virtual_network import loop_time
from tests.venue.rig import SECOND, an_exchange

NOWHERE = ExchangeUrls("http://127.0.0.1:9/api/v3", "ws://127.0.0.1:9/ws")


async def built(settings: MarketSettings, urls: ExchangeUrls | None = None, limit: int | None = None) -> BuiltFeed:
    return await build_feed(settings, seed=5, clock=loop_time(), limit=limit, urls=urls)


async def test_auto_is_live_if_the_exchange_responds() -> None:
    async with an_exchange() as exchange:
        found = await built(MarketSettings(feed="auto", interval="1s"), exchange.urls, limit=10)
        assert (found.feed.kind, found.notice) == (FeedKind.EXCHANGE, None)
        assert len((await record_events(found.feed)).candles) == 10


async def test_auto_falls_back_to_the_sample_with_an_explanation() -> None:
    found = await built(MarketSettings(feed="auto"), NOWHERE, limit=30)
    assert found.feed.kind is FeedKind.REPLAY
    assert found.feed.market.symbol == SAMPLE_MARKET.symbol
    assert found.notice is not None
    assert "no network" in found.notice
    assert "EUR/USD" in found.notice
    received = await record_events(found.feed)
    assert len(received.candles) == 30
    assert not received.live


async def test_a_known_market_is_waited_for_and_never_replaced_by_the_sample() -> None:
    """A short outage at the start must not replace the user's market."""
    asked: list[Market] = []

    def is_known(market: Market) -> bool:
        asked.append(market)
        return True

    settings = MarketSettings(feed="auto", interval="1s")
    found = await build_feed(settings, seed=5, clock=loop_time(), urls=NOWHERE, is_known=is_known)
    assert found.feed.kind is FeedKind.EXCHANGE and asked == [found.feed.market]
    assert found.notice is not None and "no network" in found.notice and "Retrying" in found.notice
    await found.feed.aclose()


async def test_a_known_market_missing_at_the_exchange_announces_no_retry() -> None:
    settings = MarketSettings(feed="auto", interval="1s", symbol="GONE/USDT")
    async with an_exchange() as exchange:
        found = await build_feed(settings, seed=5, clock=loop_time(), urls=exchange.urls, is_known=lambda _market: True)
        assert (found.feed.kind, found.notice) == (FeedKind.EXCHANGE, None)
        await found.feed.aclose()


async def test_live_never_falls_back() -> None:
    found = await built(MarketSettings(feed="live"), NOWHERE)
    assert (found.feed.kind, found.notice) == (FeedKind.EXCHANGE, None)


async def test_a_simulation_follows_the_seed_and_the_candle_limit() -> None:
    settings = MarketSettings(feed="simulate", interval="5m")
    first, second = [await record_events((await built(settings, limit=50)).feed) for _ in range(2)]
    assert len(first.candles) == 50
    assert first.candles == second.candles


def test_a_replay_is_named_after_its_file_and_content(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mine.csv", random_walk(20))
    feed = asyncio.run(built(MarketSettings(feed="replay", file=str(path)))).feed
    assert feed.market.symbol.startswith("mine#")
    assert asyncio.run(record_events(feed)).candles == random_walk(20)


async def test_a_replay_continues_as_the_one_that_is_named_else_as_the_newest(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "mine.csv", random_walk(20))
    settings = MarketSettings(feed="replay", file=str(path))
    first = (await built(settings)).feed.market
    _, second, third = islice(replays_of(first), 3)

    async def shown(settings: MarketSettings) -> Market:
        is_known = [first, second].__contains__
        return (await build_feed(settings, seed=5, clock=loop_time(), is_known=is_known)).feed.market

    assert await shown(settings) == second
    assert await shown(replace(settings, replayed_as=first.symbol)) == first
    assert await shown(replace(settings, replayed_as=third.symbol)) == third, "begun again"


@pytest.mark.parametrize("is_there", [True, False])
async def test_the_stored_candles_of_a_replay_without_its_file_are_shown(tmp_path: Path, *, is_there: bool) -> None:
    path = tmp_path / "mine.csv"
    if is_there:
        write_csv(path, random_walk(30))
    stored = Market(FILE_VENUE, "mine#dd2831", MINUTE)
    settings = MarketSettings(feed="replay", file=str(path), replayed_as=stored.symbol)
    found = await build_feed(settings, seed=5, clock=loop_time(), is_known=[stored].__contains__)
    assert found.feed.market == stored and isinstance(found.feed, StoredFeed)
    assert found.notice is not None and str(path) in found.notice
    assert ("other candles" if is_there else "not there any more") in found.notice


@pytest.mark.parametrize(("is_watched", "speed", "paced_at"), [(True, None, 2.0), (True, 0.0, 0.0), (False, 0.0, None)])
async def test_the_sample_is_a_feed_with_a_pace_if_it_is_watched(
    *, is_watched: bool, speed: float | None, paced_at: float | None
) -> None:
    settings = MarketSettings(feed="sample", speed=speed)
    feed = (await build_feed(settings, seed=5, clock=loop_time(), is_watched=is_watched)).feed
    assert isinstance(feed, ReplayFeed) and feed.market == SAMPLE_MARKET
    assert (None if feed.pace is None else feed.pace.speed) == paced_at


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        (MarketSettings(feed="replay"), FeedError, "--file"),
        (MarketSettings(feed="replay", file="no/such.csv"), CandleFileError, "such.csv"),
        (MarketSettings(feed="live", interval="soon"), FeedError, "soon"),
        (MarketSettings(feed="simulate", interval="0m"), FeedError, "0m"),
    ],
)
def test_a_feed_that_cannot_be_built_is_explained(settings: MarketSettings, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        asyncio.run(built(settings))


async def simulated_again(last: Market | None, seed: int | None = None) -> Market:
    settings = MarketSettings(feed="simulate", interval="5m")
    found = await build_feed(settings, seed=seed, clock=loop_time(), last_simulated=lambda: last)
    return found.feed.market


async def test_a_simulated_market_is_named_by_its_symbol() -> None:
    settings = MarketSettings(feed="simulate", symbol="SIM-7", interval="5m")
    found = await build_feed(settings, seed=5, clock=loop_time())
    assert found.feed.market.symbol == "SIM-7"


def test_without_a_seed_the_last_simulated_market_continues() -> None:
    first = asyncio.run(simulated_again(None))
    assert asyncio.run(simulated_again(first)) == first
    other_interval = Market(first.venue, first.symbol, SECOND)
    assert asyncio.run(simulated_again(other_interval)) == first
    assert asyncio.run(simulated_again(first, seed=7)).symbol == "SIM-7"


def test_a_simulated_market_with_another_name_is_no_seed() -> None:
    for symbol in ("SIM-", "SIM-x", "SIM-\u00b2", "7"):
        market = asyncio.run(simulated_again(Market("simulated", symbol, SECOND)))
        assert seed_of(market) is not None and market.symbol != symbol
    assert seed_of(Market("binance", "SIM-7", SECOND)) is None


WANTED = MarketSettings(feed="stored", venue="file", symbol="my rates", interval="1m")


async def test_only_stored_candles_are_shown() -> None:
    found = await build_feed(WANTED, seed=None, clock=loop_time(), is_known=lambda _market: True)
    assert found.feed.market == Market("file", "my rates", MINUTE) and found.feed.kind is FeedKind.REPLAY
    (status,) = [event async for event in found.feed.events()]
    assert isinstance(status, FeedStatus) and status.state is FeedState.STORED and "my rates" in status.sentence
    await found.feed.aclose()


async def test_a_market_without_candles_is_refused() -> None:
    with pytest.raises(FeedError, match="No candles of my rates"):
        await build_feed(WANTED, seed=None, clock=loop_time())
