"""The open candle as one connection shows it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain.clock import ManualClock
from core.market.feeds.forming import FormingCandles
from core.market.feeds.server_clock import ServerClock
from core.market.feeds.venue import Kline
from tests.support.candles import MINUTE, START_MS, random_walk

(CANDLE,) = random_walk(1)
LATER = replace(CANDLE, close=CANDLE.high, volume=2.0 * CANDLE.volume)


@pytest.fixture
def forming() -> FormingCandles:
    clock = ManualClock(START_MS + 30_000)
    return FormingCandles(ServerClock(clock, MINUTE), has_consecutive_ids=True)


@pytest.mark.parametrize("views", [(CANDLE, LATER), (LATER, CANDLE)])
def test_the_source_with_more_volume_is_shown(forming: FormingCandles, views: tuple) -> None:
    for view in views:
        forming.apply_kline(Kline(view))
    assert forming.shown(START_MS) == forming.newest(after_ms=START_MS - 1) == LATER
    assert forming.volume(START_MS) == LATER.volume


def test_a_closing_message_with_less_volume_is_not_final(forming: FormingCandles) -> None:
    forming.apply_kline(Kline(LATER))
    assert not forming.is_final(Kline(CANDLE, is_closed=True))
    assert forming.is_final(Kline(LATER, is_closed=True))
