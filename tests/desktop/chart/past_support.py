"""A real record of past forecasts for the chart's tests."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from sqlite_utils import Database

from core.domain.candle import Candle, Interval
from core.domain.candle_series import CandleSeries
from core.domain.events import ForecastMode, ForecastScored
from core.domain.regimes import RegimeProbabilities
from core.forecast.experts import Quantiles
from core.storage.database import open_database
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredForecast, StoredScore
from core.training.online.issued_forecast import IssuedForecast, from_stored, scored_event
from tests.core.storage.samples import open_record
from tests.desktop.chart.support import MINUTE_MS

HORIZONS = 3
_HORIZONS = range(1, HORIZONS + 1)
_MINUTE = Interval.parse("1m")
MODES = (ForecastMode.LIVE, ForecastMode.CATCH_UP)


def natural(random: np.random.Generator, horizon: int) -> np.ndarray:
    """Quantiles [quantity, level] of a plausible candle, ascending."""
    rows = np.sort(random.normal(0.0, 4e-4, (6, 7)), axis=1)
    rows[0] *= np.sqrt(horizon)
    rows[2:4] = np.abs(rows[2:4])
    rows[2:4].sort(axis=1)
    rows[4:] = np.log(1e-3) + rows[4:] * 100
    return rows


@functools.lru_cache(maxsize=2_048)
def stored(candle: Candle, interval: Interval = _MINUTE) -> StoredForecast:
    """The forecast made at this candle; deterministic."""
    random = np.random.default_rng(candle.open_time_ms)
    number, closed_ms = candle.open_time_ms // interval.duration_ms, interval.close_time_ms(candle.open_time_ms)
    shown, *experts = np.stack([[natural(random, horizon) for _ in range(4)] for horizon in _HORIZONS], axis=1)
    return StoredForecast(
        origin_open_time_ms=candle.open_time_ms,
        inputs_until_ms=closed_ms,
        made_at_ms=closed_ms + 250,
        mode=MODES[number % len(MODES)],
        step=number % 10_000,
        checkpoint_id=None if number % 5 == 0 else f"run-{number // 10:08d}-c{number // 10 % 4096:05x}",
        origin_close=candle.close,
        scale=1e-3,
        quantiles=Quantiles(shown, np.stack(experts)),
    )


def conditions_at(open_time_ms: int) -> RegimeProbabilities:
    """Regimes that last some candles, with varying certainty. Deterministic."""
    number = open_time_ms // MINUTE_MS
    likeliest, rest = (0.6, 0.9)[number % 2], (0.1, 0.05)[number % 2]
    shares = [rest, rest, rest]
    shares[number // 17 % 3] = likeliest
    shares[(number // 17 + 1) % 3] = 1.0 - likeliest - rest
    return RegimeProbabilities(*shares)


@functools.lru_cache(maxsize=2_048)
def issued(candle: Candle, interval: Interval = _MINUTE) -> IssuedForecast:
    return from_stored(stored(candle, interval), interval, conditions_at(candle.open_time_ms))


def score_of(made: IssuedForecast, horizon: int, target: Candle) -> StoredScore:
    """A score consistent with the forecast."""
    quantiles = made.ghosts[horizon - 1].close_quantiles
    number = target.open_time_ms // MINUTE_MS
    return StoredScore(
        origin_open_time_ms=made.origin_open_time_ms,
        horizon=horizon,
        target_open_time_ms=target.open_time_ms,
        mode=made.mode,
        after_gap=number % 7 == 0,
        loss=0.1,
        model_loss=0.1,
        reference_loss=0.1,
        range_loss=0.1,
        range_model_loss=0.1,
        range_reference_loss=0.1,
        inside_50=quantiles[2] <= target.close <= quantiles[4],
        inside_90=quantiles[0] <= target.close <= quantiles[6],
        direction_hit=(None, True, False)[number % 3],
        overlap=0.5,
        reference_overlap=0.5,
        scored_at_ms=target.open_time_ms + MINUTE_MS,
    )


def event_of(made: IssuedForecast, horizon: int, target: Candle, run_id: str) -> ForecastScored:
    return scored_event(score_of(made, horizon, target), made, target, run_id)


def store(record: TrainingRecord, series: CandleSeries, first: int, stop: int) -> None:
    """Forecasts made at the candles first..stop - 1, and the scores of those whose targets are before `stop`."""
    with record.write():
        for index in range(first, stop):
            record.add_forecast(stored(series[index]))
            record.add_conditions(series[index].open_time_ms, conditions_at(series[index].open_time_ms))
        for index in range(first, stop):
            record.add_scores(scores_of(series, index))


def scores_of(series: CandleSeries, index: int) -> list[StoredScore]:
    """The scores of this target, from origins in the series."""
    target, interval = series[index], series.interval
    opened_ms = ((horizon, target.open_time_ms - horizon * interval.duration_ms) for horizon in _HORIZONS)
    origins = ((horizon, series.index_at(time_ms)) for horizon, time_ms in opened_ms)
    made = ((horizon, issued(series[origin], interval)) for horizon, origin in origins if origin is not None)
    return [score_of(each, horizon, target) for horizon, each in made]


@contextmanager
def open_recorded(
    folder: Path, series: CandleSeries, stop: int | None = None
) -> Iterator[tuple[Database, TrainingRecord]]:
    """A database with the forecasts made at every candle of a series, and their scores."""
    with open_database(folder / "record.sqlite3") as db:
        record = open_record(db)
        store(record, series, 0, len(series) if stop is None else stop)
        yield db, record
