"""What is kept of each watched market's feed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject

from core.domain.candle import Market
from core.domain.clock import ManualClock
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from core.settings.tree import MarketSettings
from core.storage.folder import DataFolder
from desktop.services.watched_markets import MarketListener, WatchedMarkets
from desktop.state.database import WindowDatabase
from tests.support.candles import MINUTE, random_walk

HERE = Market("binance", "A/USDT", MINUTE)
CANDLES = random_walk(3)


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[MarketListener]:
    folder, window = DataFolder(tmp_path), QObject()
    markets = WatchedMarkets(folder, WindowDatabase(folder), ManualClock(0), (), new_run=False, parent=window)
    yield MarketListener(markets, HERE, MarketSettings())


@pytest.mark.parametrize("state", FeedState)
def test_a_market_has_caught_up_once_its_feed_no_longer_fetches_the_past(
    watched: MarketListener, state: FeedState
) -> None:
    status = FeedStatus(state, "", 0)
    watched.on_status(status)
    assert watched.has_caught_up is (state not in (FeedState.CONNECTING, FeedState.CATCHING_UP))
    assert watched.feed_events == (status,)


def test_progress_is_kept_until_it_is_over(watched: MarketListener) -> None:
    watched.on_catch_up(CatchUpProgress(3, 10))
    assert watched.feed_events == (CatchUpProgress(3, 10),)
    watched.on_catch_up(CatchUpProgress(10, 10))
    assert watched.feed_events == ()


@pytest.mark.parametrize("state", [FeedState.FAILED, FeedState.ENDED])
def test_progress_is_over_with_its_feed(watched: MarketListener, state: FeedState) -> None:
    status = FeedStatus(state, "", 0)
    watched.on_catch_up(CatchUpProgress(3, 10))
    watched.on_status(status)
    assert watched.feed_events == (status,)


def test_a_forming_candle_is_kept_until_it_has_closed(watched: MarketListener) -> None:
    watched.on_forming(replace(CANDLES[1], close=CANDLES[1].low))
    watched.on_closed(CANDLES[:1], ())
    assert watched.newest_forming is not None
    watched.on_closed(CANDLES[:2], ())
    assert watched.newest_forming is None
