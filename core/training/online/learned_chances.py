"""Learns corrections of the chances of prices from a run's record: how tall candles were, and how often prices were
touched.

Heights follow from the permanent part of forecasts. The trainer learns touches from forecasts whose candles have
closed, in batches, and stores them: the chances of a forecast follow from the numbers stored before its origin, so that
they are the same whenever they are computed. No torch.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core.domain.candle import Market
from core.domain.events import ForecastMode
from core.forecast.chance import WITHIN, LearnedChances, nothing_learned
from core.forecast.chance_correction import NO_CORRECTION, ChanceCorrection
from core.storage.candles import CandleStore
from core.storage.evidence_blocks import EvidenceBlock, newest_block, touch_kind
from core.storage.record_reader import RecordReader
from core.storage.records import StoredForecast
from core.training.online.past_heights import HeightsReader
from core.training.online.touched import Touches, cases_of, joined

if TYPE_CHECKING:
    from sqlite_utils import Database

_PERIOD, _LEARNED = 11, (0, 3, 6, 9)
"""Four of every eleven forecasts are learned from, as each takes milliseconds. An hour, a day or a week has no multiple
of eleven candles, so no time of day is left out."""
_BATCH = 3 * _PERIOD
"""Candles between two times of learning: the past is sorted once for all of them."""
_FIRST_FORECASTS = 500
"""The most that a batch learns from if no earlier one can be read."""
_SHARED = 0.5
"""Weight of an outcome, as the prices of one forecast lie on the same candles."""
_FOREVER = 2**63 - 1


def batch_number(market: Market, open_time_ms: int) -> int:
    """The number of the batch with this candle. Markets begin theirs at different candles: no close waits for all."""
    return (open_time_ms // market.interval.duration_ms + zlib.crc32(str(market).encode()) % _BATCH) // _BATCH


class LearnedChancesReader:
    """Callable from any thread. Both methods raise StorageError."""

    def __init__(self) -> None:
        self._heights = HeightsReader()

    def read(self, db: Database, run_id: str, market: Market, horizons: int, origin_ms: int) -> LearnedChances:
        """The chances for the forecast that the run made at this candle, `horizons` candles long."""
        return self.up_to(db, run_id, market, horizons, origin_ms)(origin_ms)

    def up_to(
        self, db: Database, run_id: str, market: Market, horizons: int, until_ms: int
    ) -> Callable[[int], LearnedChances]:
        """The chances, by origin, for the forecasts made at this candle and at the `SPARE` candles before it."""
        heights = self._heights.read(db, run_id, market, horizons, until_ms)

        def learned(origin_ms: int) -> LearnedChances:
            number = batch_number(market, origin_ms)
            known = [_known(newest_block(db, run_id, touch_kind(each), origin_ms, number)).mean for each in WITHIN]
            nearest = np.searchsorted(WITHIN, np.arange(1, horizons + 1), side="right") - 1
            intercept, slope = np.array(known)[nearest].T
            return LearnedChances(heights.stretch(origin_ms), intercept, slope)

        return learned


class ChanceLearner:
    """Learns the chances of one run, in the trainer. `learn` raises StorageError."""

    def __init__(self, db: Database, reader: RecordReader, market: Market, horizons: int) -> None:
        """reader: the run's. horizons: candles of each forecast."""
        self._db, self._reader, self._market, self._horizons = db, reader, market, horizons
        self._candles, self._heights = CandleStore(db), HeightsReader()
        self._number: int | None = None
        """The number of the newest batch; None if it is not known yet."""

    def learn(self, newest_ms: int) -> list[EvidenceBlock]:
        """The blocks to store after another batch of candles; empty between two batches.

        newest_ms: the newest candle. Its forecast does not use the result.
        """
        number = batch_number(self._market, newest_ms)
        if self._number is not None and number <= self._number:
            return []
        former = newest_block(self._db, self._reader.run_id, touch_kind(WITHIN[0]), _FOREVER, _FOREVER)
        former_number, learned_ms = (-1, -1) if former is None else (former.number, former.last_target_ms)
        self._number = max(number, former_number)
        if number <= former_number:
            return []  # learned before the trainer went back to a checkpoint
        due = self._due(learned_ms, newest_ms)
        cases = joined(list(cases_of(due, self._candles, self._market, self._uncorrected)))
        return [self._learned(within, of, former_number, number, newest_ms) for within, of in cases.items()]

    def _due(self, learned_ms: int, newest_ms: int) -> list[StoredForecast]:
        """The forecasts to learn from whose last candle opened in (learned_ms, newest_ms]."""
        step_ms = self._market.interval.duration_ms
        after_ms = max(self._reader.before_newest(_FIRST_FORECASTS), learned_ms - self._horizons * step_ms)
        sampled = self._reader.every_nth_forecast(after_ms, newest_ms, step_ms, _PERIOD, _LEARNED)
        return [
            each
            for each in sampled
            if learned_ms < each.origin_open_time_ms + each.horizons * step_ms <= newest_ms
            and each.mode is not ForecastMode.SEEN
        ]

    def _uncorrected(self, horizons: int, until_ms: int) -> Callable[[int], LearnedChances]:
        """The chances without a correction, as corrections are learned from them."""
        heights = self._heights.read(self._db, self._reader.run_id, self._market, horizons, until_ms)
        plain = nothing_learned(horizons)
        return lambda origin_ms: replace(plain, stretch=heights.stretch(origin_ms))

    def _learned(self, within: int, cases: Touches, former: int, number: int, newest_ms: int) -> EvidenceBlock:
        """The block `number`, continued from the former block: forecasts of several candles overlap, so their outcomes
        together carry little more than one."""
        kind, weight = touch_kind(within), _SHARED * min(1.0, _PERIOD / len(_LEARNED) / within)
        known = _known(newest_block(self._db, self._reader.run_id, kind, _FOREVER, former))
        learned = known.learned(cases.chance, cases.touched, weight)
        return EvidenceBlock(kind, number, newest_ms, np.vstack([learned.mean, learned.precision]))


def _known(block: EvidenceBlock | None) -> ChanceCorrection:
    return NO_CORRECTION if block is None else ChanceCorrection(block.sums[0], block.sums[1:])
