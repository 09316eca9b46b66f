"""Answers other than candles: each is explained, its requested wait kept, and the feed recovers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.market.feeds.base import FeedState
from tests.support.exchange.clock import loop_s
from tests.venue.rig import FAST, Rig, an_exchange, watched

SAID = {
    429: "demands fewer requests (429)",
    418: "has banned this address for some time (418)",
    403: "refuses this computer (403)",
    503: "down for maintenance or overloaded (503)",
    500: "reports a server error (500)",
    502: "reports a server error (502)",
}


async def broken(rig: Rig, status: int, retry_after_s: int | None = None, body: str = "") -> None:
    """Answer this way and disconnect every stream, which forces a request."""
    rig.exchange.answer(status, retry_after_s, body)
    rig.exchange.cut()


@pytest.mark.parametrize("status", [429, 418, 403, 503])
async def test_the_requested_wait_is_respected_and_its_reason_reported(tmp_path: Path, status: int) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        await broken(rig, status, retry_after_s=1)
        await rig.trouble(SAID[status], "1 s")
        said_s, asked = loop_s(), len(rig.exchange.requests)
        rig.venue.heal()
        await rig.until(lambda: len(rig.exchange.requests) > asked, "the next request")
        assert loop_s() - said_s > 0.9, "it did not wait"
        await rig.live(3)


@pytest.mark.parametrize("status", [500, 502])
async def test_a_server_error_is_retried_soon(tmp_path: Path, status: int) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        await broken(rig, status, body="<html>Bad Gateway</html>")
        await rig.trouble(SAID[status])
        rig.venue.heal()
        await rig.live(3)


async def test_the_feed_recovers_from_an_html_answer(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        await broken(rig, 200, body="<html>Welcome to this hotel's network</html>")
        await rig.until(lambda: bool(rig.received.sentences(FeedState.RECONNECTING)), "the trouble")
        rig.venue.heal()
        await rig.live(3)


async def test_a_blocked_location_ends_the_feed_with_advice(tmp_path: Path) -> None:
    async with watched(tmp_path, is_to_fail=True) as rig:
        await rig.live(2)
        await broken(rig, 451, body='{"code":0,"msg":"Service unavailable from a restricted location"}')
        await rig.until(lambda: rig.received.state is FeedState.FAILED, "the end")
    sentence = rig.received.sentences(FeedState.FAILED)
    assert "451" in sentence and "Choose another exchange" in sentence


async def test_a_delisted_market_is_named(tmp_path: Path) -> None:
    async with watched(tmp_path, exchange=an_exchange(symbol="ETH/USDT"), is_to_fail=True) as rig:
        await rig.until(lambda: rig.received.state is FeedState.FAILED, "the end")
    assert "BTC/USDT" in rig.received.sentences(FeedState.FAILED)


async def test_a_failed_comparison_is_postponed_and_the_stream_continues(tmp_path: Path) -> None:
    async with watched(tmp_path, times=replace(FAST, check_pause_s=5.0)) as rig:
        await rig.live(3)
        asked = len(rig.exchange.requests)
        rig.exchange.answer(500)
        await rig.live(12)
        assert 2 <= len(rig.exchange.requests) - asked <= 4
        assert rig.received.sentences(FeedState.RECONNECTING) == ""
