"""A session with one challenger over some candles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from core.domain.candle import FILE_VENUE, Candle, Interval, Market
from core.domain.challenger_sources import source_of
from core.domain.clock import Clock
from core.domain.events import ForecastMode, Incident, TrainerEvent
from core.domain.quantities import FloatArray
from core.forecast.experts import STORED
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.storage.record_reader import RecordReader
from core.storage.records import ChallengerFigures
from core.storage.runs import challenger_figures
from core.training.commands import MarketCandle, ObserveClose, SaveCheckpoint, SetPaused
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import SessionSpec

_OF_CHALLENGERS = "challenger"
"""How the kinds of their incidents begin."""


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """What the challenger did."""

    forecasts: FloatArray
    """[candle, H, Q, L], natural units; of the forecast without any model where it gave none."""
    incidents: tuple[Incident, ...]
    """Of the challenger."""
    cost_ms: float
    """Of a candle, on average."""
    answered: float
    """The share of candles with a forecast of it: an answer may hold none."""


def run_trial(
    root: Path, wanted: str, parts: Sequence[Sequence[Candle]], interval: Interval, settings: Settings, clock: Clock
) -> Trial:
    """A new run with this challenger in an empty folder. The trainer is started again for each further part.

    A process learns by itself, so the main model does not train beside it. Raises ChallengerError and StorageError.
    """
    folder = DataFolder(root)
    folder.ensure()
    settings = replace(settings, model=replace(settings.model, challengers=(wanted,)))
    spec = SessionSpec(root, Market(FILE_VENUE, "check", interval), settings)
    events: list[TrainerEvent] = []
    for part in parts:
        events += _run_part(spec, part, clock)
    incidents = tuple(
        event for event in events if isinstance(event, Incident) and event.kind.startswith(_OF_CHALLENGERS)
    )
    forecasts, figures = _recorded(folder)
    return Trial(forecasts, incidents, figures.cost_ms or 0.0, figures.answered or 0.0)


def _run_part(spec: SessionSpec, candles: Sequence[Candle], clock: Clock) -> list[TrainerEvent]:
    service, db = TrainingService(spec, clock), open_database(DataFolder(spec.root).database)
    try:
        store, events = CandleStore(db), list(service.opening_events())
        if source_of(spec.settings.model.challengers[0]).command:
            service.handle(SetPaused(True))
        for candle in candles:
            store.save(spec.market, [candle])
            events += service.handle(ObserveClose((MarketCandle(candle, ForecastMode.REPLAY),)))
        service.handle(SaveCheckpoint())
        return events
    finally:
        db.close()
        service.close()


def _recorded(folder: DataFolder) -> tuple[FloatArray, ChallengerFigures]:
    """Forecasts [candle, H, Q, L] of the challenger, and what it has done."""
    db = open_database(folder.database, readonly=True)
    try:
        ((run_id,),) = db.execute("SELECT run_id FROM runs").fetchall()
        (figures,) = challenger_figures(db, run_id).values()
        made = [each.quantiles.experts[len(STORED)] for each in RecordReader(db, run_id).forecasts_after(None)]
    finally:
        db.close()
    return np.array(made), figures
