"""Corrections by the exchange while the program is closed are found at the next start, on virtual time."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from core.domain.candle import Candle
from tests.simulation.bench import Bench
from tests.simulation.market import EPOCH_MS, STEP_MS, Correction, SimulatedMarket
from tests.simulation.run import MARKET
from tests.simulation.virtual_time import VirtualLoop, run_virtually
from tests.venue.rig import RecordingListener

pytestmark = pytest.mark.simulation

MINUTES = 300
CLOSED_S = 600.0
_PASSED_ON_MS = 15_000
"""So long after its end a candle has been passed on in any case."""


def late_correction(market: SimulatedMarket) -> tuple[int, Correction]:
    """One that comes a while after its candle, in the first half of the market, and the candle's opening time."""
    for open_ms, correction in sorted(market.corrections.items()):
        is_late = correction.at_ms > open_ms + STEP_MS + _PASSED_ON_MS
        if is_late and EPOCH_MS < open_ms < EPOCH_MS + MINUTES // 2 * STEP_MS:
            return open_ms, correction
    pytest.fail("this seed has no such correction")


@pytest.mark.parametrize("seed", [2, 3])
def test_corrections_while_closed_are_found_at_the_next_start(seed: int) -> None:
    random = Random(seed)
    market = SimulatedMarket(random, MINUTES, shows_empty=bool(seed % 2))
    open_ms, correction = late_correction(market)

    async def story(loop: VirtualLoop) -> tuple[RecordingListener, RecordingListener, list[Candle], int]:
        bench = Bench(loop, random, market)
        first = await bench.run_until(open_ms + STEP_MS + _PASSED_ON_MS)
        assert correction.first in bench.store.load(MARKET), "stored in its first version"
        await asyncio.sleep(CLOSED_S)
        second = await bench.run_until(bench.time.true_ms() + 10 * STEP_MS)
        stored = bench.store.load(MARKET)
        bench.db.conn.close()
        return first, second, stored, bench.time.true_ms()

    first, second, stored, ended_ms = run_virtually(story)
    assert market.final[open_ms] in second.corrected
    closed_ms = [candle.open_time_ms for candle in (*first.closed, *second.closed)]
    assert closed_ms == sorted(set(closed_ms)), "a correction is no new candle"
    settled = [candle for candle in stored if candle.open_time_ms < ended_ms - 9 * STEP_MS]
    assert settled == [market.final[candle.open_time_ms] for candle in settled]


def test_a_gap_filled_by_the_exchange_while_closed_is_filled_at_the_next_start() -> None:
    random = Random(5)
    market = SimulatedMarket(random, MINUTES, shows_empty=True)
    hole_ms = EPOCH_MS + 6 * STEP_MS
    filled = market.final.pop(hole_ms)
    market.corrections.pop(hole_ms, None)
    market.trades = [trade for trade in market.trades if not hole_ms <= trade.time_ms < hole_ms + STEP_MS]
    market._times = [trade.time_ms for trade in market.trades]

    async def story(loop: VirtualLoop) -> tuple[RecordingListener, list[Candle]]:
        bench = Bench(loop, random, market)
        await bench.run_until(EPOCH_MS + 9 * STEP_MS)
        assert hole_ms not in [candle.open_time_ms for candle in bench.store.load(MARKET)]
        market.final[hole_ms] = filled
        second = await bench.run_until(EPOCH_MS + 12 * STEP_MS)
        stored = bench.store.load(MARKET)
        bench.db.close()
        return second, stored

    second, stored = run_virtually(story)
    assert filled in second.corrected and filled in stored
    assert filled not in second.closed, "a correction is no new candle"
