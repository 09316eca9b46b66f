"""Small real sessions for tests: a real database, a real model, real checkpoints; only the sizes are small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from sqlite_utils import Database

from core.domain.candle import Candle, Market
from core.domain.clock import Clock, SystemClock
from core.domain.events import ForecastMode, TrainerEvent
from core.settings.tree import CheckpointSettings, ModelSettings, OnlineSettings, Settings, TrainingSettings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.training.commands import MarketCandle, ObserveClose
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import SessionSpec
from tests.support.candles import MARKET, random_walk

SMALL = Settings(
    model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3),
    training=TrainingSettings(seed=5, replay_samples=3, replay_window=64, learning_rate=1e-2, device="cpu"),
    online=OnlineSettings(twin_age=20),
    checkpoints=CheckpointSettings(every_steps=10),
)
CANDLES = random_walk(140)
OTHER = Market(MARKET.venue, "OTHER", MARKET.interval)


def spec(root: Path, settings: Settings = SMALL, market: Market = MARKET) -> SessionSpec:
    DataFolder(root).ensure()
    return SessionSpec(root, market, settings)


def service(root: Path, settings: Settings = SMALL, clock: Clock | None = None) -> TrainingService:
    return TrainingService(spec(root, settings), clock or SystemClock())


def service_of_two(root: Path, settings: Settings = SMALL) -> TrainingService:
    """MARKET and OTHER, learned by one model."""
    return TrainingService(replace(spec(root, settings), others=(OTHER,)), SystemClock())


def feed_two(session: TrainingService, *walks: Sequence[Candle]) -> list[TrainerEvent]:
    """Candles of MARKET and OTHER, of the same times."""
    closes = (ObserveClose(close_of(enumerate(pair))) for pair in zip(*walks, strict=True))
    return [event for close in closes for event in session.handle(close)]


def observed(candle: Candle, mode: ForecastMode = ForecastMode.REPLAY) -> ObserveClose:
    """The close of a single market."""
    return ObserveClose((MarketCandle(candle, mode),))


def close_of(candles: Iterable[tuple[int, Candle]]) -> tuple[MarketCandle, ...]:
    """Each with the place of its market."""
    return tuple(MarketCandle(candle, ForecastMode.REPLAY, market) for market, candle in candles)


def feed(
    session: TrainingService, candles: Iterable[Candle], mode: ForecastMode = ForecastMode.REPLAY
) -> list[TrainerEvent]:
    events: list[TrainerEvent] = []
    for candle in candles:
        events.extend(session.handle(observed(candle, mode)))
    return events


def after(session: TrainingService, count: int = len(CANDLES)) -> list[Candle]:
    """Those of the first CANDLES that the session has not taken yet."""
    position = session.status().position_ms
    return [candle for candle in CANDLES[:count] if position is None or candle.open_time_ms > position]


def digest(root: Path, run_id: str) -> str:
    db = open_database(DataFolder(root).database, readonly=True)
    try:
        return RecordReader(db, run_id).forecasts_sha256()
    finally:
        db.close()


def newest_run(db: Database) -> str:
    """The id of the run that was begun last."""
    return str(db.execute("SELECT run_id FROM runs ORDER BY sequence DESC LIMIT 1").fetchone()[0])
