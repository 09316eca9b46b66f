"""Scores forecasts again when their target candle was corrected later. Nothing is learned from it.

A correction is stored before the trainer is notified (`core.storage.schema`, candle_corrections), and each run
stores how far it has processed them. Corrections that arrived while no trainer ran, or whose command was lost with a
host that died, are processed at the next start.
"""

from __future__ import annotations

import logging
from operator import attrgetter

import numpy as np

from core.domain.candle import Candle, Market
from core.domain.clock import Clock
from core.domain.events import ForecastScored
from core.domain.quantities import QUANTITIES, FloatArray, Quantity
from core.forecast.panel import shapes_of
from core.storage.candles import CandleStore
from core.storage.record_writer import TrainingRecord
from core.training.online.issued_forecast import Outcome, Target, score, stored_forecast
from core.training.online.score_ledger import ScoreLedger

_outcome_of = attrgetter(
    "loss",
    "model_loss",
    "reference_loss",
    "range_loss",
    "range_model_loss",
    "range_reference_loss",
    "inside_50",
    "inside_90",
    "direction_hit",
    "overlap",
    "reference_overlap",
    "body_loss",
    "upper_wick_loss",
    "lower_wick_loss",
)
"""The fields of a score that depend on the candle, except those unknown for a corrected candle."""
_log = logging.getLogger("ghostcandle.training")


class Corrections:
    """Updates one run's scores after corrections of its market's candles. Used from the trainer's thread only."""

    def __init__(
        self,
        record: TrainingRecord,
        candles: CandleStore,
        market: Market,
        horizons: int,
        scores: ScoreLedger,
        clock: Clock,
    ) -> None:
        self._record = record
        self._candles = candles
        self._market = market
        self._horizons = horizons
        self._scores = scores
        self._clock = clock
        self.has_more = True
        """Whether there may be corrections left to process."""

    def apply(self, most: int) -> tuple[ForecastScored, ...]:
        """Process the oldest pending corrections, at most this many. Raises StorageError."""
        reader = self._record.reader
        newest = reader.newest_correction()  # first: later ones wait for the next call
        rows = reader.corrections(most)
        self.has_more = len(rows) == most
        events = tuple(
            event
            for open_time_ms in dict.fromkeys(opened_ms for _, opened_ms in rows)
            for event in self.rescore(open_time_ms)
        )
        with self._record.write():
            self._record.acknowledge_corrections(rows[-1][0] if self.has_more else newest)
        return events

    def rescore(self, open_time_ms: int) -> tuple[ForecastScored, ...]:
        """Store a new version of each score of this target that changes with the candle's current values.

        Nothing if it has not been scored yet. Raises StorageError.
        """
        candle = self._candle(open_time_ms)
        if candle is None:
            return ()
        found = (self._rescored(candle, horizon) for horizon in range(1, self._horizons + 1))
        changed = [outcome for outcome in found if outcome is not None]
        if not changed:
            return ()
        with self._record.write():
            self._record.add_scores(outcome.score for outcome in changed)
        for outcome in changed:
            self._scores.replace(outcome.score)
        _log.info("the candle of %d was corrected: %d scores have a new version", open_time_ms, len(changed))
        return tuple(outcome.event for outcome in changed)

    def _candle(self, open_time_ms: int) -> Candle | None:
        found = self._candles.load(self._market, after_ms=open_time_ms - 1, limit=1)
        return found[0] if found and found[0].open_time_ms == open_time_ms else None

    def _rescored(self, candle: Candle, horizon: int) -> Outcome | None:
        """The new outcome of the forecast of `horizon`; None if it has not changed."""
        reader = self._record.reader
        versions = reader.score_versions(candle.open_time_ms, horizon=horizon)
        if not versions:
            return None
        before = versions[-1]
        forecast = stored_forecast(reader, before.origin_open_time_ms, self._market.interval)
        if forecast is None or forecast.horizons < horizon:
            return None  # its score stays unchanged
        target = Target(  # the other experts' forecasts are no longer stored: their losses stay unknown
            forecast,
            horizon,
            candle,
            natural_of(candle, forecast.origin_close),
            before.after_gap,
            reader.run_id,
            version=reader.newest_version(candle.open_time_ms, horizon) + 1,
        )
        (outcome,) = score([target], self._clock.now_ms())
        return None if _outcome_of(outcome.score) == _outcome_of(before) else outcome


def natural_of(candle: Candle, origin_close: float) -> FloatArray:
    """The candle's quantities [Q], relative to the origin's close at the time of the forecast.

    The volume's is NaN, since the volumes of that time are no longer known; its loss is not stored again.
    """
    shape = {name: float(of_candle) for name, (of_candle,) in shapes_of([candle]).items()}
    natural = np.full(QUANTITIES, np.nan)
    natural[Quantity.CLOSE] = shape["log_close"] - float(np.log(origin_close))
    natural[Quantity.BODY] = shape["body"]
    natural[Quantity.UPPER_WICK] = shape["upper_wick"]
    natural[Quantity.LOWER_WICK] = shape["lower_wick"]
    natural[Quantity.RANGE] = shape["log_range"]
    return natural
