"""Intervals as ccxt's real objects name them."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain.candle import Interval
from core.market.feeds.ccxt_objects import make_exchange, streams_timeframe, timeframe_of, timeframes_of
from core.market.feeds.trouble import HttpResponse, VenueError


def made(venue: str) -> Any:
    return make_exchange(venue, None, 2.0, HttpResponse())


@pytest.mark.parametrize(("venue", "interval"), [("backpack", "15m"), ("backpack", "1d"), ("phemex", "4h")])
async def test_a_name_that_ccxt_cannot_read_hides_no_other(venue: str, interval: str) -> None:
    assert timeframe_of(made(venue), Interval.parse(interval)) == interval


@pytest.mark.parametrize(("venue", "interval"), [("bitstamp", "1w"), ("kraken", "2w"), ("phemex", "3d")])
async def test_an_interval_that_would_be_requested_in_another_length_is_none(venue: str, interval: str) -> None:
    """ccxt has Bitstamp's week as 259,200 s, and Kraken's two weeks as 21,600 min."""
    with pytest.raises(VenueError, match=f"has no candles of {interval}. It has 1m, ") as refusal:
        timeframe_of(made(venue), Interval.parse(interval))
    assert refusal.value.is_final


async def test_intervals_are_listed_by_length() -> None:
    lengths = list(timeframes_of(made("backpack")).values())
    assert lengths == sorted(lengths) and Interval.parse("30m").duration_ms in lengths


@pytest.mark.parametrize(
    ("venue", "timeframe", "is_streamed"),
    [
        ("whitebit", "6h", False),
        ("bitget", "2h", False),
        ("bitget", "3d", True),
        ("p2b", "1m", False),
        ("okx", "6h", True),
    ],
)
async def test_an_interval_without_a_name_in_the_stream_is_not_streamed(
    venue: str, timeframe: str, is_streamed: bool
) -> None:
    assert streams_timeframe(made(venue), timeframe) is is_streamed
