"""A reported wait can be counted down: only the remaining time in its sentence changes."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.backoff import Backoff
from core.domain.candle import Market
from core.domain.clock import ManualClock
from core.domain.counts import in_words
from core.market.feeds.base import FeedState, FeedStatus
from core.market.feeds.exchange import ExchangeFeed
from core.market.feeds.trouble import VenueError
from core.market.feeds.venue import Venue
from tests.support.candles import MINUTE, START_MS

MARKET = Market("binance", "BTC/USDT", MINUTE)


@given(st.integers(0, 20_000_000), st.integers(-5_000, 20_000_000))
def test_only_the_remaining_wait_changes(wait_ms: int, later_ms: int) -> None:
    trouble, offer = "Binance asks for a pause in 5 s. It is said twice.", "Next in your order of exchanges is Kraken."
    status = FeedStatus(FeedState.RECONNECTING, trouble, START_MS, "kraken", START_MS + wait_ms)
    left_ms = wait_ms - max(0, later_ms)
    left = f"in {in_words(left_ms / 1000.0)}." if left_ms > 0 else "now."
    assert status.sentence_at(START_MS + later_ms) == f"{trouble} Next try {left} {offer}"


def test_a_status_without_a_wait_keeps_its_sentence() -> None:
    assert FeedStatus(FeedState.LIVE, "Live in 5 s.", START_MS).sentence_at(START_MS + 9_000) == "Live in 5 s."


@pytest.mark.parametrize("wait_s", [3.4996, 21.5, 119.9996, 700.0])
def test_a_feed_reports_the_end_of_its_wait(wait_s: float) -> None:
    def refuse() -> Venue:
        raise VenueError("Binance demands fewer requests (429).", wait_s=wait_s, is_demanded=True, is_of_venue=True)

    async def first_break() -> FeedStatus:
        clock = ManualClock(START_MS)
        backoff = Backoff(random=Random(1))
        feed = ExchangeFeed(MARKET, clock, open_venue=refuse, backoff=backoff, fallback_venues=("binance", "kraken"))
        try:
            async for event in feed.events():
                if isinstance(event, FeedStatus) and event.state is FeedState.RECONNECTING:
                    return event
        finally:
            await feed.aclose()
        raise AssertionError("no break was reported")

    status = asyncio.run(first_break())
    assert status.retry_at_ms == START_MS + round(1000.0 * wait_s)
    assert status.sentence_at(START_MS) == status.sentence
    assert "Next try in 1 s." in status.sentence_at(status.retry_at_ms - 1_000) and "Kraken" in status.sentence
