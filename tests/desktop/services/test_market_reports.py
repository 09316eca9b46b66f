from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.candle import Market
from core.market.feeds.base import CatchUpProgress, FeedState, FeedStatus
from desktop.services.watched_markets import MarketReports
from tests.support.candles import MINUTE, random_walk

HERE, THERE = (Market("binance", f"{name}/USDT", MINUTE) for name in "AB")
CANDLES = random_walk(3)


@pytest.mark.parametrize("state", FeedState)
def test_a_market_has_caught_up_once_its_feed_no_longer_fetches_the_past(state: FeedState) -> None:
    reports, status = MarketReports(), FeedStatus(state, "", 0)
    has_caught_up = state not in (FeedState.CONNECTING, FeedState.CATCHING_UP)
    reports.take_event(HERE, status)
    assert reports.caught_up == ({HERE} if has_caught_up else set())
    assert reports.of(HERE).feed_events == (status,) and reports.of(THERE).feed_events == ()


def test_progress_is_kept_until_it_is_over() -> None:
    reports = MarketReports()
    reports.take_event(HERE, CatchUpProgress(3, 10))
    assert reports.of(HERE).feed_events == (CatchUpProgress(3, 10),)
    reports.take_event(HERE, CatchUpProgress(10, 10))
    assert reports.of(HERE).feed_events == ()


@pytest.mark.parametrize("state", [FeedState.FAILED, FeedState.ENDED])
def test_progress_is_over_with_its_feed(state: FeedState) -> None:
    reports, status = MarketReports(), FeedStatus(state, "", 0)
    reports.take_event(HERE, CatchUpProgress(3, 10))
    reports.take_event(HERE, status)
    assert reports.of(HERE).feed_events == (status,)


def test_a_forming_candle_is_kept_until_it_has_closed() -> None:
    reports = MarketReports()
    reports.take_forming(HERE, replace(CANDLES[1], close=CANDLES[1].low))
    reports.take_closed(HERE, CANDLES[:1])
    reports.take_closed(THERE, CANDLES)
    assert reports.of(HERE).forming is not None
    reports.take_closed(HERE, CANDLES[:2])
    assert reports.of(HERE).forming is None


def test_nothing_is_left_when_the_feeds_begin_again() -> None:
    reports = MarketReports()
    reports.take_event(HERE, FeedStatus(FeedState.LIVE, "", 0))
    reports.ended.add(HERE)
    reports.begin()
    assert not reports.caught_up and not reports.ended and reports.of(HERE).status is None
