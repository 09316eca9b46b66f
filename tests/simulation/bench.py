"""One table and one simulated exchange for consecutive runs of the program."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from random import Random

from core.domain.backoff import Backoff
from core.market.feeds.exchange import ExchangeFeed
from core.market.pipeline import MarketPipeline
from core.storage.candles import CandleStore
from core.storage.holes import HoleStore
from tests.simulation.market import EPOCH_MS, SimulatedMarket
from tests.simulation.run import CATCH_UP, MARKET
from tests.simulation.toxics import Toxic, Toxics
from tests.simulation.venue import SimulatedExchange
from tests.simulation.virtual_time import VirtualLoop, VirtualTime
from tests.support.tables import empty_tables
from tests.venue.rig import RecordingListener


class Bench:
    """A market, its exchange and one table; runs of the program come and go."""

    def __init__(
        self, loop: VirtualLoop, random: Random, market: SimulatedMarket, toxics: Sequence[Toxic] = ()
    ) -> None:
        self.time = VirtualTime(loop, EPOCH_MS)
        self.exchange = SimulatedExchange(random, market, self.time, Toxics(toxics))
        self.db = empty_tables()
        self.store, self.holes = CandleStore(self.db), HoleStore(self.db)

    async def run_until(self, until_ms: int) -> RecordingListener:
        """One run of the program, until then."""
        received, backoff = RecordingListener(), Backoff(random=Random(1))
        feed = ExchangeFeed(MARKET, self.time, CATCH_UP, backoff=backoff, open_venue=self.exchange.connect)
        pumping = asyncio.ensure_future(MarketPipeline(feed, self.store, self.holes, self.time, received).run())
        await asyncio.sleep((until_ms - self.time.true_ms()) / 1000.0)
        await feed.aclose()
        await pumping
        return received
