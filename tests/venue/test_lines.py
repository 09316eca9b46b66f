"""A bad connection between feed and exchange: after it recovers, the stored candles equal the exchange's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.market.feeds.base import FeedState
from tests.support.fault_proxy import Bandwidth, Latency, Refuse, Reset, SlowClose, Stall, Toxic
from tests.venue.rig import FAST, watched

PATIENT = replace(FAST, request_s=5.0, doubt_s=2.0)
"""Where nothing is to be taken for a break: a machine that has much else to do is slow, too."""


@pytest.mark.parametrize(
    "toxics",
    [
        (Latency(0.05),),
        (Latency(0.02, jitter_s=0.08),),
        (Bandwidth(60_000.0),),
        (Latency(0.03, jitter_s=0.03), Bandwidth(120_000.0)),
    ],
    ids=["late", "jittery", "slow", "late and slow"],
)
async def test_a_slow_connection_loses_no_candle_and_is_no_break(tmp_path: Path, toxics: tuple[Toxic, ...]) -> None:
    async with watched(tmp_path, times=PATIENT) as rig:
        await rig.live(2)
        rig.venue.proxy.put(*toxics)
        await rig.live(4)
        rig.venue.heal()
        await rig.live(3)
        assert rig.received.sentences(FeedState.RECONNECTING) == ""


async def test_a_half_open_connection_is_detected_and_replaced(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        rig.venue.proxy.put(Stall())
        await rig.trouble("did not answer in time")
        rig.venue.heal()
        await rig.live(4)


async def test_a_brief_stall_is_no_break(tmp_path: Path) -> None:
    async with watched(tmp_path, times=PATIENT) as rig:
        await rig.live(2)
        stall = Stall()
        rig.venue.proxy.put(stall)
        await rig.passed(2)
        rig.venue.proxy.take(stall)
        await rig.live(4)
        assert rig.received.sentences(FeedState.RECONNECTING) == ""


async def test_the_feed_reconnects_after_a_reset(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        before = rig.exchange.sockets_opened
        reset = Reset()
        rig.venue.proxy.put(reset)
        rig.venue.proxy.take(reset)
        await rig.trouble("was cut")
        await rig.live(4)
        assert rig.exchange.sockets_opened > before


async def test_the_feed_recovers_from_repeated_resets_in_mid_answer(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        rig.venue.proxy.put(Reset(after_bytes=900))
        await rig.passed(15)
        rig.venue.heal()
        await rig.live(4)
        assert rig.received.sentences(FeedState.RECONNECTING)


async def test_a_slow_close_blocks_nothing(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        before = rig.exchange.sockets_opened
        rig.venue.proxy.put(SlowClose(0.6))
        rig.exchange.cut()
        await rig.until(lambda: rig.exchange.sockets_opened > before, "another stream")
        await rig.live(4)


async def test_the_feed_recovers_after_refused_connections(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        rig.venue.proxy.put(Refuse())
        await rig.trouble("cannot be reached")
        await rig.passed(20)
        rig.venue.heal()
        await rig.live(4)
        assert len(rig.received.closed) - len(rig.received.live) >= 10 + 15, "those of the break are not live"


async def test_the_feed_starts_once_connections_are_accepted(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        rig.venue.proxy.put(Refuse())
        await rig.trouble("cannot be reached")
        rig.venue.heal()
        await rig.live(3)


async def test_the_feed_recovers_from_consecutive_faults(tmp_path: Path) -> None:
    """Each is put on while the one before has not been got over."""
    async with watched(tmp_path) as rig:
        await rig.live(2)
        for toxics in (
            (Latency(0.1),),
            (Refuse(),),
            (Stall(), Latency(0.05)),
            (Reset(after_bytes=300),),
            (Refuse(),),
        ):
            rig.venue.proxy.put(*toxics)
            await rig.passed(4)
            rig.venue.heal()
            await rig.passed(1)
        await rig.live(4)
