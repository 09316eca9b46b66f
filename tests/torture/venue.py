"""Markets as feed and trainer leave them: stored candles, recorded forecasts and scores, a run for each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.domain.candle import Candle, Interval
from core.domain.candle import Market as MarketName
from core.domain.clock import ManualClock
from core.domain.events import ForecastMade, ForecastScored
from core.storage.records import StoredScore
from desktop.state.database import WindowDatabase
from tests.core.storage.samples import create_run, open_record
from tests.desktop import scenario
from tests.desktop.chart.past_support import conditions_at, event_of, issued, scores_of, stored
from tests.torture.market import SECOND, Market

VENUE = "torture"
_RECORDED = 250
"""Newest candles with forecasts in the record from the start."""
_REST_COUNT = 300


class WatchedMarket:
    """One market with its run. `walk` has all candles; `keep` stores some of them."""

    def __init__(self, walk: Market, symbol: str, database: WindowDatabase) -> None:
        self.walk, self._database = walk, database
        self.name = MarketName(VENUE, symbol, walk.series.interval)
        self.keep(list(walk.series))
        run = create_run(database.db, self.name)
        self.run_id = run.run_id
        self._record = open_record(database.db, run)
        self._recorded: set[int] = set()
        for index in range(max(len(walk.series) - _RECORDED, 0), len(walk.series)):
            self._write(index)
        with self._record.write():
            for info in scenario.checkpoints():
                own = replace(info, run_id=self.run_id, checkpoint_id=f"{self.run_id}-{info.step}")
                self._record.add_checkpoint(own)

    def keep(self, candles: list[Candle]) -> None:
        """Store them, as a feed's pipeline does before reporting them."""
        self._database.candles.save(self.name, candles)

    def record(self, candle: Candle) -> tuple[list[ForecastScored], ForecastMade]:
        """Score the forecasts for a closed candle, and forecast the next ones."""
        index = self.walk.series.index_at(candle.open_time_ms)
        assert index is not None, "it came into the series"
        series, interval = self.walk.series, self.walk.series.interval
        scores = self._write(index)
        made = {score.origin_open_time_ms: series.index_at(score.origin_open_time_ms) for score in scores}
        events = [
            event_of(issued(series[origin], interval), score.horizon, candle, self.run_id)
            for score in scores
            if (origin := made[score.origin_open_time_ms]) is not None
        ]
        return events, issued(candle, interval).event(self.run_id)

    def _write(self, index: int) -> list[StoredScore]:
        """One transaction, as the trainer's. Scores need their forecasts in the record."""
        series = self.walk.series
        scores = [each for each in scores_of(series, index) if each.origin_open_time_ms in self._recorded]
        with self._record.write():
            self._record.add_scores(scores)
            self._record.add_forecast(stored(series[index], series.interval))
            opened_ms = series[index].open_time_ms
            self._record.add_conditions(opened_ms, conditions_at(opened_ms))
        self._recorded.add(series[index].open_time_ms)
        return scores


class Venue:
    """A few markets: an empty one, small ones, and two whose history is longer than the part shown initially."""

    def __init__(self, random: np.random.Generator, clock: ManualClock, database: WindowDatabase) -> None:
        minute = Interval.parse("1m")
        self._clock, self._database = clock, database
        shapes = ((0, SECOND), (1, minute), (400, minute), (600, SECOND), (2_600, SECOND), (4_500, minute))
        self.markets = [
            WatchedMarket(Market(random, clock, count, interval), f"M{number}/TEST", database)
            for number, (count, interval) in enumerate(shapes)
        ]
        self.large = self.markets[-2:]
        self.at_rest = WatchedMarket(Market(np.random.default_rng(1), clock, _REST_COUNT), "REST/TEST", database)
        """Not changed by any act: it is the same at each rest."""
