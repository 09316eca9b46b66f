"""The simulated market: reproducible by seed at any pace, valid, with clustered volatility."""

from __future__ import annotations

import asyncio
import itertools

import numpy as np
import pytest

from core.domain.candle import Candle, Market
from core.domain.candle_faults import Validator
from core.domain.clock import ManualClock
from core.market.feeds.base import CatchUpProgress, ClosedCandle, FeedKind, FeedState, FeedStatus, FormingCandle
from core.market.feeds.simulated import SimulatedFeed
from tests.core.market.feeds.collected import all_of, candles, states, timed
from tests.simulation.virtual_time import run_virtually
from tests.support.candles import MINUTE


def simulated(count: int, seed: int = 3, speed: float | None = 0.0, catch_up: int = 10) -> SimulatedFeed:
    return SimulatedFeed(MINUTE, seed, ManualClock(), speed, catch_up, count)


def test_a_seed_gives_the_same_candles_at_any_pace() -> None:
    fast, paced = candles(all_of(simulated(15))), candles(all_of(simulated(15, speed=500.0)))
    assert fast == paced
    assert candles(all_of(simulated(15, seed=4))) != fast
    assert simulated(1).market == Market("simulated", "SIM-3", MINUTE)
    assert simulated(1).kind is FeedKind.SIMULATED
    assert simulated(1).market.is_simulated


def test_candles_are_valid_and_contiguous() -> None:
    made = candles(all_of(simulated(3000)))
    validator = Validator(MINUTE)
    assert [candle for candle in made if validator.check(candle) is not None] == []
    assert set(np.diff([candle.open_time_ms for candle in made])) == {60_000}
    assert all(before.close == after.open for before, after in itertools.pairwise(made))


def test_volatility_clusters_but_returns_do_not() -> None:
    closes = np.array([candle.close for candle in candles(all_of(simulated(6000)))])
    returns = np.diff(np.log(closes))
    noise = 3.0 / np.sqrt(len(returns))
    assert correlation(np.abs(returns)) > 2 * noise
    assert abs(correlation(returns)) < 2 * noise


@pytest.mark.parametrize(("speed", "candle_s"), [(None, 60.0), (0.2, 5.0)])
def test_candles_come_at_their_pace(speed: float | None, candle_s: float) -> None:
    events, took_s = timed(simulated(14, speed=speed))
    assert len(candles(events, is_live=True)) == 4
    assert took_s == pytest.approx(4 * candle_s, abs=0.01)


def test_forming_candles_grow_into_the_closed_one() -> None:
    events = all_of(simulated(12, speed=200.0))
    forming: list[Candle] = []
    for event in events:
        if isinstance(event, FormingCandle):
            forming.append(event.candle)
        elif isinstance(event, ClosedCandle) and event.is_live:
            assert forming
            assert {candle.open_time_ms for candle in forming} == {event.candle.open_time_ms}
            assert max(candle.high for candle in forming) <= event.candle.high
            assert [c.volume for c in forming] == sorted(c.volume for c in forming)
            forming = []
    assert len(candles(events, is_live=True)) == 2
    assert states(events) == [FeedState.CATCHING_UP, FeedState.SIMULATED, FeedState.ENDED]


@pytest.mark.parametrize(("count", "speed", "total"), [(300, 0.0, 300), (12, 500.0, 10)])
def test_catching_up_is_reported_to_its_end(count: int, speed: float, total: int) -> None:
    progress = [event for event in all_of(simulated(count, speed=speed)) if isinstance(event, CatchUpProgress)]
    assert progress[-1] == CatchUpProgress(total, total)
    assert [report.done for report in progress] == sorted({report.done for report in progress})


def test_closing_interrupts_the_wait() -> None:
    async def closed_while_waiting() -> list[FeedState]:
        feed, seen = SimulatedFeed(MINUTE, 1, ManualClock(), None, 5), []
        async for event in feed.events():
            if isinstance(event, FeedStatus):
                seen.append(event.state)
                if event.state is FeedState.SIMULATED:
                    asyncio.get_running_loop().call_soon(asyncio.ensure_future, feed.aclose())
        return seen

    states_seen = run_virtually(lambda loop: closed_while_waiting())
    assert states_seen == [FeedState.CATCHING_UP, FeedState.SIMULATED]


def correlation(values: np.ndarray) -> float:
    return float(np.corrcoef(values[:-1], values[1:])[0, 1])
