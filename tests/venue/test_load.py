"""A busy market: 1,000 trades a second through real ccxt, from an exchange in another process."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

import numpy as np
import psutil
import pytest

from core.market.feeds.urls import ExchangeUrls
from tests.support.loopback_exchange import loopback_process
from tests.venue.clients import client

pytestmark = pytest.mark.venue

PER_SECOND = 1_000
_LOOK_S = 0.005
_WARM_S = 3.0
_MOST_GROWTH_BYTES = 32 * 2**20


@dataclass(slots=True)
class Load:
    """What came, how late the event loop was, and how much memory the process held."""

    ids: list[int] = field(default_factory=list)
    lags_s: list[float] = field(default_factory=list)
    resident: list[int] = field(default_factory=list)

    async def watch(self, urls: ExchangeUrls, seconds: float) -> None:
        async with client(urls) as exchange:
            looking = asyncio.create_task(self._look())
            try:
                until_s = time.monotonic() + seconds
                while time.monotonic() < until_s:
                    trades = await exchange.watch_trades("BTC/USDT")
                    self.ids.extend(int(trade["id"]) for trade in trades)
            finally:
                looking.cancel()
                await asyncio.gather(looking, return_exceptions=True)

    async def _look(self) -> None:
        process, began_s = psutil.Process(), time.monotonic()
        while True:
            asked_s = time.monotonic()
            await asyncio.sleep(_LOOK_S)
            self.lags_s.append(time.monotonic() - asked_s - _LOOK_S)
            if time.monotonic() - began_s > _WARM_S + len(self.resident):
                self.resident.append(process.memory_info().rss)


@pytest.mark.parametrize("seconds", [10, pytest.param(60, marks=[pytest.mark.slow, pytest.mark.timeout(180)])])
def test_a_thousand_trades_a_second_lose_none_and_hold_no_memory(
    seconds: int, capsys: pytest.CaptureFixture[str]
) -> None:
    load = Load()
    with loopback_process("--trades", str(PER_SECOND), "--push-seconds", "0.01", "--history", "20") as urls:
        asyncio.run(load.watch(urls, seconds))
    p50, p99, most = (float(np.quantile(load.lags_s, share)) * 1000.0 for share in (0.5, 0.99, 1.0))
    growth = load.resident[-1] - load.resident[0]
    with capsys.disabled():
        print(
            f"\n{len(load.ids):,} trades in {seconds} s; event loop late by {p50:.1f} ms in the median, {p99:.1f} ms "
            f"p99, {most:.1f} ms at most; memory {growth / 2**20:+.1f} MiB after the first {_WARM_S:g} s"
        )
    assert load.ids == list(range(load.ids[0], load.ids[0] + len(load.ids))), "some were lost, doubled or disordered"
    assert len(load.ids) > 0.9 * PER_SECOND * seconds, "the load was not reached"
    assert growth < _MOST_GROWTH_BYTES
