"""Messages doubled, shuffled, lost, broken, strange, late or wrong: the stored candles equal the exchange's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.market.feeds.base import FeedState, RejectedMessage
from tests.support.exchange.toxics import (
    ClockSkew,
    CorruptJson,
    Drop,
    Duplicate,
    Late,
    MessageToxic,
    MisquotedClose,
    Reorder,
    UnknownFields,
    WildTime,
    WrongTypes,
    missing_finals,
)
from tests.support.fault_proxy import Latency
from tests.venue.rig import FAST, watched

TOXICS: dict[str, Callable[[], list[MessageToxic]]] = {
    "duplicate": lambda: [Duplicate()],
    "reorder": lambda: [Reorder(of=8)],
    "drop": lambda: [Drop(share=0.5)],
    "corrupt JSON": lambda: [CorruptJson(share=0.3)],
    "unknown fields": lambda: [UnknownFields()],
    "wrong types": lambda: [WrongTypes(share=0.3)],
    "no closing message": lambda: [missing_finals()],
    "late trades": lambda: [Late(0.25)],
    "all late": lambda: [Late(0.25, concerns=lambda message: True)],
    "a closing message from before the end": lambda: [MisquotedClose()],
    "another close than the final one": lambda: [MisquotedClose(factor=1.1)],
    "the clock ahead": lambda: [ClockSkew(400)],
    "the clock behind": lambda: [ClockSkew(-400)],
    "many at once": lambda: [Duplicate(), Reorder(of=5), Drop(share=0.2), UnknownFields(share=0.2), WrongTypes(0.1)],
}


@pytest.mark.parametrize("name", list(TOXICS))
async def test_candles_are_correct_under_any_message_fault(tmp_path: Path, name: str) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        toxics = TOXICS[name]()
        rig.exchange.toxics.extend(toxics)
        await rig.passed(10)
        assert name == "late trades" or any(toxic.done for toxic in toxics), "it did nothing"
        rig.venue.heal()
        await rig.live(3)
        await rig.until(rig.is_true, "the candles to be those of the exchange")


async def test_a_candle_with_an_outlier_time_hides_no_later_one(tmp_path: Path) -> None:
    """ccxt hands on what is newest by time: that one again and again, so that each later candle had to be asked for."""

    def asked() -> int:
        return sum("/klines" in request for request in rig.exchange.requests)

    async with watched(tmp_path, times=replace(FAST, check_s=600.0)) as rig:
        await rig.live(2)
        before = asked()
        rig.exchange.toxics.append(WildTime())
        await rig.live(4)
        reasons = [each.reason for each in rig.received.reports if isinstance(each, RejectedMessage)]
        assert reasons == ["a time in the future"] and asked() == before


async def test_a_closing_message_with_less_volume_than_seen_is_rejected(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        rig.exchange.toxics.append(MisquotedClose(factor=0.9))
        await rig.live(4)
        assert not rig.received.corrected and rig.is_true(), "it was passed on, and corrected afterwards"


@pytest.mark.parametrize("after_s", [0.0, 0.3])
async def test_an_announced_shutdown_and_the_daily_disconnect_leave_no_gap(tmp_path: Path, after_s: float) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        before = rig.exchange.sockets_opened
        if after_s:
            rig.exchange.shut_down(after_s)
        else:
            rig.exchange.end_of_day()
        await rig.until(lambda: rig.exchange.sockets_opened > before, "another stream")
        assert ("will close the connection" in rig.received.sentences(FeedState.RECONNECTING)) is bool(after_s)
        await rig.live(3)


async def test_a_silent_stream_beside_working_requests_is_replaced(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        rig.exchange.stall()
        await rig.trouble("stopped sending")
        rig.venue.heal()
        await rig.live(3)


async def test_bad_messages_on_a_bad_connection(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        rig.venue.proxy.put(Latency(0.03, jitter_s=0.05))
        rig.exchange.toxics.extend([Duplicate(), Drop(share=0.3), CorruptJson(share=0.05)])
        await rig.passed(10)
        rig.exchange.cut()
        await rig.passed(5)
        rig.venue.heal()
        await rig.live(3)
