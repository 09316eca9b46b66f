"""A synthetic run in the database: forecasts, scores and conditions that fit each other and their candles.

For tests of code that reads a record; a real session takes a hundred times as long to write as much.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.domain.candle import Candle, Market
from core.domain.quantities import BAND_50, BAND_90, LEVELS, MEDIAN, QUANTITIES, FloatArray, Quantity
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import EXPERTS, LOSS_ROWS, MODEL, REFERENCE, ExpertList, Quantiles, pack_losses
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredForecast, StoredScore
from core.storage.runs import Run, RunStore
from core.training.online.evidence import RunEvidence
from core.training.online.trainer_spec import own_mode_of
from tests.support.candles import MARKET, MINUTE
from tests.support.scores import as_stored

MADE_AFTER_MS = 250
TWIN_AGE = 20
"""Candles before the first forecast of a frozen reference model."""
SETTINGS = json.dumps({"online": {"twin_age": TWIN_AGE}})
_ROW = {name: row for row, name in enumerate(LOSS_ROWS)}


class SyntheticRun:
    """Its forecasts are a little better than the reference's. What is written does not depend on how many at once."""

    def __init__(
        self,
        root: Path,
        horizons: int = 3,
        seed: int = 0,
        *,
        run: Run | None = None,
        challengers: tuple[str, ...] = (),
        advantage: float = 0.05,
    ) -> None:
        """run: one of a model that is stored already. advantage: how much less they lose than the reference's."""
        DataFolder(root).ensure()
        self._db = open_database(DataFolder(root).database)
        run = run or stored_run(self._db, challengers=challengers)
        self.run_id = run.run_id
        self._record = TrainingRecord(self._db, run.run_id, RunStore(self._db).acquire_fence(run.head_id))
        self._mode = own_mode_of(run.market)
        self._experts, self._advantage = ExpertList(run.challengers), advantage
        self._horizons, self._seed = horizons, seed
        self._forecasts: list[StoredForecast] = []
        self._conditions: list[RegimeProbabilities] = []
        self._evidence = RunEvidence(self._experts)

    def write(self, candles: Sequence[Candle]) -> None:
        """These candles come after those that were written before."""
        with self._record.write() as record:
            for candle in candles:
                forecast, conditions = self._forecast(candle), self._condition(candle)
                record.add_forecast(forecast)
                record.add_conditions(candle.open_time_ms, conditions)
                scores = self._scores(candle)
                record.add_scores(scores)
                self._take_evidence(scores, candle)
                record.add_evidence(self._evidence.pop_new())
                self._forecasts.append(forecast)
                self._conditions.append(conditions)

    def close(self) -> None:
        self._db.close()

    def _take_evidence(self, scores: Sequence[StoredScore], target: Candle) -> None:
        for score in scores[:1]:
            if not score.after_gap:
                self._evidence.add_online(score)
                self._evidence.add_own(score, self._hits(target))

    def _hits(self, target: Candle) -> FloatArray:
        """Of each expert: 9 of 10 closes inside the band, half of the directions right, none for the reference."""
        right = self._draw(target, 2).random((len(self._experts.loss_rows) - 1, 2)) < (0.9, 0.5)
        counts = np.ones_like(right)
        counts[REFERENCE, 1] = False
        return np.stack([right & counts, counts], axis=-1).astype(np.float64)

    def _draw(self, candle: Candle, *what: int) -> np.random.Generator:
        return np.random.default_rng((self._seed, candle.open_time_ms, *what))

    def _condition(self, candle: Candle) -> RegimeProbabilities:
        return RegimeProbabilities(*self._draw(candle).dirichlet((1.0, 1.0, 1.0)).tolist())

    def _forecast(self, candle: Candle) -> StoredForecast:
        horizons = range(1, self._horizons + 1)
        middle = np.stack([self._draw(candle, each).normal(0.0, 2e-4, (QUANTITIES, 1)) for each in horizons])
        shown = middle + 1.2e-3 * np.sqrt(horizons)[:, None, None] * np.log(LEVELS / (1.0 - LEVELS)) / 1.7
        closed_ms = MINUTE.close_time_ms(candle.open_time_ms)
        return StoredForecast(
            origin_open_time_ms=candle.open_time_ms,
            inputs_until_ms=closed_ms,
            made_at_ms=closed_ms + MADE_AFTER_MS,
            mode=self._mode,
            step=len(self._forecasts),
            checkpoint_id=None,
            origin_close=candle.close,
            scale=1e-3,
            quantiles=Quantiles(shown, np.stack([shown, shown - middle, *self._of_challengers(shown)])),
        )

    def _of_challengers(self, shown: FloatArray) -> list[FloatArray]:
        """Each one's forecast, then the one without any of them."""
        return [shown] * (len(self._experts.challengers) + 1) if self._experts.challengers else []

    def _scores(self, target: Candle) -> list[StoredScore]:
        known = range(1, min(self._horizons, len(self._forecasts)) + 1)
        return [self._score(self._forecasts[-horizon], horizon, target) for horizon in known]

    def _score(self, of: StoredForecast, horizon: int, target: Candle) -> StoredScore:
        outcome, said = math.log(target.close / of.origin_close), of.quantiles.shown[horizon - 1, Quantity.CLOSE]
        losses, combined, old_model = self._losses(target, horizon)
        model, reference = losses[_ROW[EXPERTS[MODEL]]], losses[_ROW[EXPERTS[REFERENCE]]]
        found = StoredScore(
            origin_open_time_ms=of.origin_open_time_ms,
            horizon=horizon,
            target_open_time_ms=target.open_time_ms,
            mode=of.mode,
            after_gap=target.open_time_ms != of.origin_open_time_ms + horizon * MINUTE.duration_ms,
            loss=combined[Quantity.CLOSE],
            model_loss=model[Quantity.CLOSE],
            reference_loss=reference[Quantity.CLOSE],
            range_loss=combined[Quantity.RANGE],
            range_model_loss=model[Quantity.RANGE],
            range_reference_loss=reference[Quantity.RANGE],
            inside_50=bool(said[BAND_50[0]] <= outcome <= said[BAND_50[1]]),
            inside_90=bool(said[BAND_90[0]] <= outcome <= said[BAND_90[1]]),
            direction_hit=None if outcome == 0.0 else (outcome > 0.0) == bool(said[MEDIAN] > 0.0),
            overlap=0.5,
            reference_overlap=0.4,
            scored_at_ms=MINUTE.close_time_ms(target.open_time_ms) + MADE_AFTER_MS,
            expert_losses=pack_losses(losses),
            regime=self._conditions[-horizon],
            twin_loss=old_model[Quantity.CLOSE] if len(self._forecasts) > TWIN_AGE else None,
            range_twin_loss=old_model[Quantity.RANGE] if len(self._forecasts) > TWIN_AGE else None,
            body_loss=combined[Quantity.BODY],
            upper_wick_loss=combined[Quantity.UPPER_WICK],
            lower_wick_loss=combined[Quantity.LOWER_WICK],
            volume_loss=combined[Quantity.VOLUME],
        )
        return as_stored(found)

    def _losses(self, target: Candle, horizon: int) -> tuple[FloatArray, list[float], list[float]]:
        """Losses of all experts [len(loss_rows), Q], of the shown forecast, and of the frozen reference model. Without
        a movement all lose next to nothing."""
        draw, forecasts = self._draw(target, horizon, 1), self._experts.forecasts
        luck = draw.gamma(4.0, 2.5e-4 if target.high > target.low else 1e-20, QUANTITIES)
        losses = luck * draw.normal(1.0, 0.1, (len(self._experts.loss_rows), QUANTITIES)).clip(0.5)
        # As stored, so that what is read back is what the other columns say.
        losses = losses.astype(np.float32).astype(np.float64)
        own = losses[1 : 1 + len(forecasts)]
        own[:] = np.where(forecasts, own, losses[1 + REFERENCE])
        shown, old_model = luck * draw.normal([[1.0 - self._advantage], [1.0]], 0.1, (2, QUANTITIES))
        return losses, shown.tolist(), old_model.tolist()


def stored_run(
    db: Database, markets: Sequence[Market] = (MARKET,), challengers: Sequence[str] = (), settings: str = SETTINGS
) -> Run:
    """The head of a new model of these markets."""
    return RunStore(db).create(
        markets[0],
        "synthetic",
        created_at_ms=1,
        seed=0,
        is_seeded=True,
        settings_json=settings,
        device="CPU",
        parameters=1,
        others=markets[1:],
        challengers=challengers,
    )


def made_up(root: Path, candles: Sequence[Candle], horizons: int = 3, seed: int = 0) -> str:
    """Write one over these candles; its run id."""
    run = SyntheticRun(root, horizons, seed)
    run.write(candles)
    run.close()
    return run.run_id


def correct_newest(db: Database, run_id: str) -> None:
    """The newest target was corrected: its one-step score has a second version, which lost 1 more."""
    record = TrainingRecord(db, run_id, RunStore(db).get(run_id).fence)
    (newest,) = record.reader.scores(1)
    with record.write():
        record.add_scores([replace(newest, version=2, loss=newest.loss + 1.0)])
