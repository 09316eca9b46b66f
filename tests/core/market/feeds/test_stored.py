"""A stored market is shown without a feed; a market without stored candles is refused with an explanation."""

from __future__ import annotations

import pytest

from core.domain.candle import Market
from core.market.feeds.auto import build_feed
from core.market.feeds.base import FeedError, FeedKind, FeedState, FeedStatus
from core.settings.tree import MarketSettings
from tests.support.candles import MINUTE
from tests.support.virtual_network import loop_time

WANTED = MarketSettings(feed="stored", venue="file", symbol="my rates", interval="1m")


async def test_only_stored_candles_are_shown() -> None:
    found = await build_feed(WANTED, seed=None, clock=loop_time(), is_known=lambda _market: True)
    assert found.feed.market == Market("file", "my rates", MINUTE) and found.feed.kind is FeedKind.REPLAY
    (status,) = [event async for event in found.feed.events()]
    assert isinstance(status, FeedStatus) and status.state is FeedState.ENDED and "my rates" in status.sentence
    await found.feed.aclose()


async def test_a_market_without_candles_is_refused() -> None:
    with pytest.raises(FeedError, match="No candles of my rates"):
        await build_feed(WANTED, seed=None, clock=loop_time())
