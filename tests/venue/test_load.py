"""A busy market: 1,000 trades a second through real ccxt over real sockets."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.domain.clock import SystemClock
from core.market.feeds.base import FeedVitals
from core.market.feeds.timing import ExchangeTimes
from core.storage.candles import CandleStore
from core.storage.database import open_database
from tests.support.loopback_exchange import FaultyVenue, loopback_thread
from tests.venue.rig import MARKET, STEP_MS, RecordingListener, a_feed, pipeline_of
from tests.venue.windows import wall_exchange

pytestmark = pytest.mark.venue

PER_SECOND = 1_000
_LOOK_S = 0.005
_WARM_S = 2.0
_MOST_GROWTH_BYTES = 32 * 2**20
_MOST_LAG_S = 0.016
"""One frame of a screen. Judged in a soak, and where the machine has nothing else to do: else it is theirs."""
_IDLE_CORES = 0.3
"""Of the processor, used by other processes: a machine that does no more than that counts as idle."""
_IS_SOAK = bool(os.environ.get("GHOSTCANDLE_SOAK"))
SECONDS = 60 if _IS_SOAK else 6


@dataclass(slots=True)
class Load:
    """Received events, delay of the event loop, and memory of the process."""

    lags_s: list[float] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)
    others_cores: float = 0.0
    """Of the processor, that other processes used meanwhile."""

    async def feed(self, venue: FaultyVenue, store: CandleStore, received: RecordingListener, seconds: float) -> None:
        """For so long; then until all is counted that was sent until then."""
        feed = a_feed(venue.urls, ExchangeTimes(), SystemClock())
        looking = asyncio.create_task(self._look())
        running = asyncio.create_task(pipeline_of(feed, store, received).run())
        try:
            await asyncio.sleep(seconds)
            sent = venue.exchange.trades_sent
            while counted(received).trades < sent:  # noqa: ASYNC110 - what a feed tells of itself sets no event
                await asyncio.sleep(_LOOK_S)
        finally:
            await feed.aclose()
            await running
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)

    @property
    def growth(self) -> int:
        """Of the process's memory, after it was warm, in bytes."""
        return self.resident[-1] - self.resident[0]

    def late_s(self, share: float) -> float:
        """How late the event loop was at most, in this share of the looks."""
        return float(np.quantile(self.lags_s, share))

    @property
    def machine(self) -> str:
        """How it went for the event loop and the memory, in words."""
        p50, p99, most = (1000.0 * self.late_s(share) for share in (0.5, 0.99, 1.0))
        return (
            f"event loop late by {p50:.1f} ms in the median, {p99:.1f} ms p99, {most:.1f} ms at most; "
            f"memory {self.growth / 2**20:+.1f} MiB after the first {_WARM_S:g} s; other processes used "
            f"{self.others_cores:.2f} cores"
        )

    async def _look(self) -> None:
        process, began_s = psutil.Process(), time.monotonic()
        others_s = _used_by_others_s()
        try:
            await self._keep_looking(process, began_s)
        finally:
            self.others_cores = max(0.0, _used_by_others_s() - others_s) / (time.monotonic() - began_s)

    async def _keep_looking(self, process: psutil.Process, began_s: float) -> None:
        while True:
            asked_s = time.monotonic()
            await asyncio.sleep(_LOOK_S)
            self.lags_s.append(time.monotonic() - asked_s - _LOOK_S)
            if time.monotonic() - began_s > _WARM_S + len(self.resident):
                self.resident.append(process.memory_info().rss)


def _used_by_others_s() -> float:
    """The processor's time so far, in seconds of one core, without this process and its children."""
    whole = psutil.cpu_times()
    own = psutil.Process()
    ours = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return sum(whole) - whole.idle - getattr(whole, "iowait", 0.0) - sum(each.user + each.system for each in ours)


def counted(received: RecordingListener) -> FeedVitals:
    return next((report for report in reversed(received.reports) if isinstance(report, FeedVitals)), FeedVitals(0, ""))


def test_a_thousand_trades_a_second_are_counted_in_bounded_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the exchange on a thread of this process, so that both share the interpreter: the worse case."""
    venue, received, load = FaultyVenue(wall_exchange(trades=PER_SECOND)), RecordingListener(), Load()
    with loopback_thread(venue), open_database(tmp_path / "candles.sqlite3") as db:
        asyncio.run(load.feed(venue, CandleStore(db), received, SECONDS))
        stored = CandleStore(db).load(MARKET)
    vitals = counted(received)
    with capsys.disabled():
        print(f"\n{vitals.trades:,} trades counted by the feed in {SECONDS} s; {load.machine}")
    times = [candle.open_time_ms for candle in stored]
    assert times == list(range(times[0], times[-1] + 1, STEP_MS)) and times == [
        each.open_time_ms for each in received.closed
    ]
    assert stored == [venue.exchange.truth(time_ms) for time_ms in times]
    assert vitals.trades >= 0.7 * PER_SECOND * SECONDS, "the exchange sent as many as it should"
    assert (vitals.lost_trades, vitals.rejected, vitals.reconnects) == (0, 0, 0)
    assert load.growth < _MOST_GROWTH_BYTES
    if _IS_SOAK and load.others_cores < _IDLE_CORES:
        assert load.late_s(0.99) < _MOST_LAG_S, load.machine
