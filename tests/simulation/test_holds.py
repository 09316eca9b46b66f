"""An exchange that requests a wait gets no requests until it is over, on virtual time."""

from __future__ import annotations

from random import Random

import pytest

from core.market.feeds.base import FeedState
from tests.simulation.bench import Bench
from tests.simulation.market import EPOCH_MS, STEP_MS, SimulatedMarket
from tests.simulation.run import MARKET
from tests.simulation.toxics import Toxic
from tests.simulation.virtual_time import VirtualLoop, run_virtually
from tests.venue.rig import RecordingListener

pytestmark = pytest.mark.simulation

MINUTES = 30
_EARLY_S = 0.05


def refused(seed: int, status: int) -> tuple[Bench, RecordingListener]:
    """A market of half an hour; from its fifth minute to its fifteenth, most requests are refused."""
    random = Random(seed)
    market = SimulatedMarket(random, MINUTES + 5, shows_empty=True)
    toxic = Toxic("status", EPOCH_MS + 5 * STEP_MS + 100, EPOCH_MS + 15 * STEP_MS, 1.0, status)

    async def story(loop: VirtualLoop) -> tuple[Bench, RecordingListener]:
        bench = Bench(loop, random, market, [toxic])
        return bench, await bench.run_until(EPOCH_MS + MINUTES * STEP_MS + 30_000)

    return run_virtually(story)


@pytest.mark.parametrize("status", [429, 418])
def test_no_part_of_the_feed_sends_requests_until_the_wait_is_over(status: int) -> None:
    """Backfill, settling, checks of a silent stream, comparisons and the server time all respect it."""
    refusals = 0
    for seed in range(3):
        bench, _ = refused(seed, status)
        waits_s = bench.exchange.waits_s
        early = [
            (asked_s, until_s)
            for asked_s in bench.exchange.asked_s
            for from_s, until_s in waits_s
            if from_s < asked_s < until_s - _EARLY_S
        ]
        assert not early, f"seed {seed}: requested during the wait"
        times = [candle.open_time_ms for candle in bench.store.load(MARKET)]
        assert times == list(range(times[0], times[-1] + STEP_MS, STEP_MS)) and times[-1] >= EPOCH_MS + 28 * STEP_MS
        refusals += len(waits_s)
        bench.db.conn.close()
    assert refusals > 8


def test_a_live_stream_continues_during_a_wait_and_that_is_reported_once() -> None:
    said: list[str] = []
    for seed in range(3):
        bench, received = refused(seed, 429)
        live = [status.sentence for status in received.statuses if status.state is FeedState.LIVE]
        said += [sentence for sentence in live if "The stream continues" in sentence]
        assert "The stream continues" not in live[-1], "the end of the wait is reported, too"
        bench.db.conn.close()
    assert said and all("429" in sentence and "requested in" in sentence for sentence in said)
