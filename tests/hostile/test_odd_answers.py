"""A hostile or broken exchange: the feed reports it, waits within bounds, and recovers."""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from core.domain.clock import Clock
from core.domain.plain_text import LONGEST
from core.market.feeds.base import FeedState, RejectedMessage
from core.market.feeds.bounded_answers import LARGEST_BYTES
from core.market.feeds.exchange import probe
from core.market.feeds.trouble import UNBELIEVED_WAIT_S
from tests.support.exchange.toxics import ClockSkew, Message, MessageToxic
from tests.support.virtual_network import loop_time
from tests.venue.rig import MARKET, Rig, an_exchange, watched

pytestmark = [pytest.mark.hostile, pytest.mark.slow]

YEAR_MS = 31_556_952_000
LONGEST_SENTENCE = LONGEST + 300
"""Text of the exchange inside our message."""


async def broken(rig: Rig, status: int, **odd: str | bytes | None) -> None:
    rig.exchange.answer(status, **odd)
    rig.exchange.cut()


async def got_over(rig: Rig) -> None:
    """It is live again, and said nothing that is too long; what it said is forgotten."""
    rig.venue.heal()
    await rig.live(2)
    assert max(len(each.sentence) for each in rig.received.statuses) < LONGEST_SENTENCE
    del rig.received.statuses[:-1]


async def test_an_unreadable_wait_does_not_end_the_feed(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        for asked in ("²", "-5", "1e3", "٣", "soon", "Mon, 99 Xxx 2026 99:99:99 +99999999", ""):
            await broken(rig, 503, retry_after_s=asked)
            await rig.trouble("maintenance or overloaded (503)")
            await got_over(rig)


async def test_an_endless_wait_is_ignored_and_that_is_reported(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        await broken(rig, 429, retry_after_s="9" * 400)
        await rig.trouble("years, which is ignored; the next attempt is in an hour. Next try in 60 min.")
        rig.venue.heal()
        await rig.until(
            lambda: rig.received.statuses[-1].awaits_message,  # the rig's market has ended meanwhile
            "the next try",
            timeout_s=UNBELIEVED_WAIT_S + 60.0,
        )


@pytest.mark.parametrize("status", [400, 404, 500])
async def test_an_error_of_200_kb_is_shortened(tmp_path: Path, status: int) -> None:
    body = json.dumps({"code": -1100, "msg": "<img src='/dev/zero'> " + "very long " * 20_000})
    async with watched(tmp_path, is_to_fail=status != 500) as rig:
        await rig.live(2)
        await broken(rig, status, body=body)
        if status == 500:
            await rig.trouble("reports a server error (500)")
            rig.venue.heal()
            await rig.live(2)
        else:
            await rig.until(lambda: rig.received.state is FeedState.FAILED, "the end")
        assert max(len(each.sentence) for each in rig.received.statuses) < LONGEST_SENTENCE


@pytest.mark.parametrize("packing", [None, "gzip"])
async def test_an_endless_body_is_cut_off(tmp_path: Path, packing: str | None) -> None:
    body = b"[" + b"1," * (LARGEST_BYTES // 2 + 1_000_000)
    async with watched(tmp_path) as rig:
        await rig.live(2)
        await broken(rig, 200, body=body if packing is None else gzip.compress(body), packing=packing)
        await rig.trouble("answered with more than 32 MB, so its answer was cut off.")
        rig.venue.heal()
        await rig.live(3)


async def test_the_feed_recovers_from_invalid_answers(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        for body in (
            "[" * 100_000,
            '{"symbols": ' + "[" * 50_000 + "]" * 50_000 + "}",
            '{"serverTime": 1e999}',
            '{"serverTime": 99999999999999999999999999}',
            '{"serverTime": "\\ud800"}',
            "[[1e999, 1, 1, 1, 1, 1]]",
            '[[{"a": 1}, null, [], {}, "x", true]]',
            "NaN",
            "\x00\xff",
        ):
            await broken(rig, 200, body=body)
            await rig.until(lambda: bool(rig.received.sentences(FeedState.RECONNECTING)), "the trouble")
            await got_over(rig)


async def test_a_probe_explains_invalid_answers() -> None:
    async with an_exchange() as exchange:
        exchange.answer(400, body='{"code": -1, "msg": "' + "x" * 200_000 + '"}')
        problem = await probe(MARKET, exchange.urls, 2.0, loop_time())
    assert problem is not None and len(str(problem)) < LONGEST_SENTENCE


@dataclass(frozen=True)
class OffClock:
    """A computer's clock that is set wrong."""

    right: Clock
    ahead_ms: int

    def now_ms(self) -> int:
        return self.right.now_ms() + self.ahead_ms

    def monotonic_s(self) -> float:
        return self.right.monotonic_s()

    def sleep_s(self, seconds: float) -> None:
        self.right.sleep_s(seconds)


@pytest.mark.parametrize("years", [6_974, 10_000, -60])
async def test_candles_arrive_with_a_system_clock_in_the_year_9000(tmp_path: Path, years: int) -> None:
    async with watched(tmp_path, clock=OffClock(loop_time(), years * YEAR_MS)) as rig:
        await rig.live(5)


@pytest.mark.parametrize("years", [6_974, -20])
async def test_an_exchange_clock_before_2010_or_in_the_year_9000_is_rejected(tmp_path: Path, years: int) -> None:
    """ccxt makes 1 ms of Backpack's time: the first digit."""
    async with watched(tmp_path) as rig:
        rig.exchange.toxics.append(ClockSkew(years * YEAR_MS))
        await rig.trouble("reports a time before 2010 or after 2100.")
        rig.exchange.toxics.clear()
        await rig.live(3)


async def test_the_feed_recovers_from_an_exchange_clock_years_ahead(tmp_path: Path) -> None:
    """At first, and in the midst: no candle is left out for that its clock was wrong for a while."""
    async with watched(tmp_path) as rig:
        for _ in range(2):
            rig.exchange.toxics.append(ClockSkew(20 * YEAR_MS))
            rig.exchange.cut()
            await rig.passed(20)
            rig.exchange.toxics.clear()
            rig.exchange.cut()
            await rig.live(5)


@dataclass(slots=True)
class Instead(MessageToxic):
    """This is sent in the place of every message."""

    raw: str = ""

    def take(self, message: Message) -> list[Message]:
        self.done += 1
        return [replace(message, raw=self.raw)]


async def test_the_feed_recovers_from_invalid_messages(tmp_path: Path) -> None:
    async with watched(tmp_path) as rig:
        await rig.live(2)
        for raw in (
            "[" * 100_000,
            '{"e": ' + "[" * 50_000 + "]" * 50_000 + "}",
            "[1, 2, 3]",
            "null",
            "",
            "\x00",
            '{"e": "kline", "E": 1e999, "s": "BTCUSDT", "k": {"t": 1e999, "o": "1e999"}}',
            '{"e": "trade", "E": -1, "s": "BTCUSDT", "t": 1e999, "p": "NaN", "q": "-1", "T": 1e999}',
            '{"e": "trade", "s": "BTCUSDT", "t": {"a": 1}, "p": [], "q": null, "T": "x"}',
            '{"error": {"code": 1e999, "msg": "' + "<b>" * 60_000 + '"}}',
            "x" * 12_000_000,
        ):
            toxic = Instead(raw)
            rig.exchange.toxics.append(toxic)
            await rig.passed(6)
            assert toxic.done
            await got_over(rig)
        rejected = [each for each in rig.received.reports if isinstance(each, RejectedMessage)]
        assert max((len(each.raw) for each in rejected), default=0) <= 2_000
