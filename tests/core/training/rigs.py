"""Small real sessions for tests: a real database, a real model, real checkpoints; only the sizes are small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sqlite_utils import Database

from core.domain.candle import Candle, Market
from core.domain.checkpoint_info import CheckpointInfo
from core.domain.clock import Clock, SystemClock
from core.domain.events import CheckpointsChanged, ForecastMode, TrainerEvent
from core.settings.tree import CheckpointSettings, ModelSettings, OnlineSettings, Settings, TrainingSettings
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import StoredScore
from core.training.commands import MarketCandle, ObserveClose, SaveCheckpoint
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import SessionSpec
from tests.support.candles import MARKET, random_walk

SMALL = Settings(
    model=ModelSettings(width=8, layers=1, heads=2, context=8, horizons=3),
    training=TrainingSettings(seed=5, replay_samples=3, replay_window=64, learning_rate=1e-2, device="cpu"),
    online=OnlineSettings(twin_age=20),
    checkpoints=CheckpointSettings(every_steps=10),
)
SCORE = StoredScore(0, 1, 0, ForecastMode.LIVE, False, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, True, True, True, 0.5, 0.5, 0)
CANDLES = random_walk(140)
OTHER = Market(MARKET.venue, "OTHER", MARKET.interval)


def spec(root: Path, settings: Settings = SMALL, market: Market = MARKET) -> SessionSpec:
    folder = DataFolder(root)
    folder.ensure()
    open_database(folder.database).close()
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


def observed(candle: Candle, mode: ForecastMode = ForecastMode.REPLAY, market: Market = MARKET) -> ObserveClose:
    """The close of a single market."""
    return ObserveClose((MarketCandle(candle, mode, market),))


def close_of(
    candles: Iterable[tuple[int, Candle]], markets: Sequence[Market] = (MARKET, OTHER)
) -> tuple[MarketCandle, ...]:
    """Each candle with the place of its market among these."""
    return tuple(MarketCandle(candle, ForecastMode.REPLAY, markets[place]) for place, candle in candles)


def feed(
    session: TrainingService, candles: Iterable[Candle], mode: ForecastMode = ForecastMode.REPLAY
) -> list[TrainerEvent]:
    events: list[TrainerEvent] = []
    for candle in candles:
        events.extend(session.handle(observed(candle, mode, session._session.market.market)))
    return events


def after(session: TrainingService, count: int = len(CANDLES)) -> list[Candle]:
    """Those of the first CANDLES that the session has not taken yet."""
    position = session.status().position_ms
    return [candle for candle in CANDLES[:count] if position is None or candle.open_time_ms > position]


def saved(events: Iterable[TrainerEvent]) -> list[CheckpointInfo]:
    return [event.saved for event in events if isinstance(event, CheckpointsChanged) and event.saved is not None]


def saved_now(session: TrainingService) -> CheckpointInfo:
    """A checkpoint that is saved on request."""
    (info,) = saved(session.handle(SaveCheckpoint()))
    return info


def digest(root: Path, run_id: str) -> str:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        return RecordReader(db, run_id).forecasts_sha256()


def newest_run(db: Database) -> str:
    """The id of the run that was begun last."""
    return str(db.execute("SELECT run_id FROM runs ORDER BY sequence DESC LIMIT 1").fetchone()[0])
