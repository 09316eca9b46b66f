"""Records to store, with distinct values wherever possible."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlite_utils import Database

from core.domain.candle import Candle, Interval, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.events import ForecastMode, Incident, Severity, StepDone
from core.forecast.experts import Quantiles
from core.storage.record_writer import TrainingRecord
from core.storage.records import StoredForecast, StoredScore
from core.storage.runs import Run, RunStore
from tests.support.scores import as_stored

MINUTE_MS = 60_000
HORIZONS = 8
MARKET = Market("binance", "BTC/USDT", Interval.parse("1m"))


def candle(number: int, close: float = 100.0) -> Candle:
    return Candle(number * MINUTE_MS, 100.0, max(101.0, close), min(99.0, close), close, float(number))


def create_run(
    db: Database,
    market: Market = MARKET,
    fingerprint: str = "first",
    others: Sequence[Market] = (),
    challengers: Sequence[str] = (),
) -> Run:
    return RunStore(db).create(
        market,
        fingerprint,
        created_at_ms=1_700_000_000_000,
        seed=7,
        is_seeded=True,
        settings_json='{"width": 64}',
        device="CPU, 1 thread",
        parameters=101_376,
        others=others,
        challengers=challengers,
    )


def open_record(db: Database, run: Run | None = None) -> TrainingRecord:
    run = run or create_run(db)
    return TrainingRecord(db, run.run_id, RunStore(db).acquire_fence(run.run_id))


def forecast(origin: int, seed: int = 0) -> StoredForecast:
    random = np.random.default_rng((seed, origin))
    return StoredForecast(
        origin_open_time_ms=origin * MINUTE_MS,
        inputs_until_ms=(origin + 1) * MINUTE_MS,
        made_at_ms=(origin + 1) * MINUTE_MS + 250,
        mode=ForecastMode.LIVE,
        step=origin,
        checkpoint_id=f"checkpoint-{origin}" if origin % 2 else None,
        origin_close=100.0 + origin / 7,
        scale=0.001,
        quantiles=Quantiles(random.normal(size=(HORIZONS, 5, 7)), random.normal(size=(3, HORIZONS, 5, 7))),
    )


def score(origin: int, horizon: int = 1) -> StoredScore:
    found = StoredScore(
        origin_open_time_ms=origin * MINUTE_MS,
        horizon=horizon,
        target_open_time_ms=(origin + horizon) * MINUTE_MS,
        mode=ForecastMode.CATCH_UP,
        after_gap=origin % 2 == 0,
        loss=0.1 + origin,
        model_loss=0.2,
        reference_loss=0.3,
        range_loss=0.4,
        range_model_loss=0.5,
        range_reference_loss=0.6,
        inside_50=False,
        inside_90=True,
        direction_hit=(None, True, False)[origin % 3],
        overlap=0.7,
        reference_overlap=0.8,
        scored_at_ms=(origin + horizon + 1) * MINUTE_MS,
    )
    return as_stored(found)


def step(number: int, origin: int | None = None, run_id: str = "run") -> StepDone:
    return StepDone(
        run_id=run_id,
        step=number,
        candle_open_time_ms=(number if origin is None else origin) * MINUTE_MS,
        loss=1.0 / (number + 1),
        prequential_loss=None,
        gradient_norm=0.5,
        clipped=number % 2 == 0,
        learning_rate=1e-4,
        clip_norm=1.0,
        samples=32,
        duration_ms=12.5,
        at_ms=number * MINUTE_MS + 300,
    )


def checkpoint(
    run_id: str, number: int, *, skill: float | None = None, loss: float | None = None, is_pinned: bool = False
) -> CheckpointInfo:
    return CheckpointInfo(
        checkpoint_id=f"{run_id}-{number}",
        run_id=run_id,
        step=number * 10,
        candle_open_time_ms=number * MINUTE_MS,
        created_at_ms=number * MINUTE_MS + 1,
        reason="periodic",
        skill=skill,
        skill_low=None,
        skill_high=None,
        scored=number,
        loss=loss,
        file=f"models/transformer/{run_id}/{number}.safetensors",
        size_bytes=1_000 + number,
        sha256=f"{number:064x}",
        parent_id=f"{run_id}-{number - 1}" if number else None,
        is_pinned=is_pinned,
    )


def incident(kind: str, run_id: str | None = None) -> Incident:
    return Incident(
        run_id, 5, Severity.WARNING, kind, "The loss was not finite.", "The step was left out.", "One step."
    )
