"""A busy computer or consumer: late data is complete and correct."""

from __future__ import annotations

import asyncio
from random import Random

import pytest

from core.market.feeds.base import ClosedCandle, CorrectedCandle, FeedState, FeedStatus, FeedVitals
from core.market.feeds.exchange import ExchangeFeed
from tests.simulation.bench import Bench
from tests.simulation.market import EPOCH_MS, STEP_MS, SimulatedMarket
from tests.simulation.run import CATCH_UP, HEALING, MARKET, MINUTES, problems, simulate
from tests.simulation.toxics import Toxic
from tests.simulation.venue import PAGE_ROWS, closed_until
from tests.simulation.virtual_time import VirtualLoop, run_virtually

pytestmark = pytest.mark.simulation

_END_MS = EPOCH_MS + (MINUTES - HEALING) * STEP_MS


@pytest.mark.parametrize("seed", range(6))
def test_a_repeatedly_blocked_event_loop_loses_no_trade_and_closes_no_open_candle(
    seed: int,
) -> None:
    random = Random(seed)
    moments_ms = range(EPOCH_MS + 2 * STEP_MS, _END_MS, 40_000)
    toxics = [Toxic("busy", at_ms + random.randrange(40_000), _END_MS, random.random()) for at_ms in moments_ms]
    toxics.append(Toxic("slow requests", EPOCH_MS + STEP_MS, _END_MS, 1.0))
    outcome = simulate(seed, toxics)
    assert problems(outcome) == []
    assert outcome.vitals()[-1].lost_trades == 0 and outcome.vitals()[-1].rejected == 0
    for correction in (event for event in outcome.events if isinstance(event, CorrectedCandle)):
        assert correction.before == outcome.market.corrections[correction.candle.open_time_ms].first


def test_after_a_long_pause_no_page_is_requested_repeatedly() -> None:
    """The stream continued meanwhile and has shown the newest of these candles."""
    pause_ms = (PAGE_ROWS + 30) * STEP_MS
    random = Random(1)
    market = SimulatedMarket(random, PAGE_ROWS + 60, shows_empty=True)

    async def story(loop: VirtualLoop) -> None:
        bench = Bench(loop, random, market)
        bench.exchange.reports_close = False
        feed = ExchangeFeed(MARKET, bench.time, CATCH_UP, open_venue=bench.exchange.connect)
        closed: list[ClosedCandle] = []
        went_on_ms = asked = 0
        async for event in feed.events():
            assert not (isinstance(event, FeedStatus) and event.state is FeedState.RECONNECTING)
            if isinstance(event, ClosedCandle):
                closed.append(event)
                if not asked and sum(each.is_live for each in closed) == 2:
                    await asyncio.sleep(pause_ms / 1000.0)
                    went_on_ms, asked = bench.time.true_ms(), len(bench.exchange.asked_s)
            elif asked and isinstance(event, FeedVitals) and len(closed) > PAGE_ROWS:
                break
        now_ms = bench.time.true_ms()
        assert now_ms - went_on_ms < 2_000 and len(bench.exchange.asked_s) - asked <= 5
        assert closed[-1].candle.open_time_ms == closed_until(now_ms)
        await feed.aclose()
        bench.db.close()

    run_virtually(story)
