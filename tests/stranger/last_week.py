"""A run of last week: the real session over last week's candles, with last week's clock."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from core.domain.candle import Market
from core.domain.clock import ManualClock
from core.domain.events import ForecastMode
from core.settings.tree import Settings
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import StopSession
from core.training.hosting.service import TrainingService
from core.training.online.trainer_spec import SessionSpec
from tests.core.training import rigs
from tests.support.tape import Tape

_AFTER_CLOSE_MS = 300
"""When the trainer learns of a candle."""


def end_of_last_week_ms(now_ms: int) -> int:
    """Some hours before its Sunday is over, where this machine is: when the program was closed."""
    today = datetime.fromtimestamp(now_ms / 1000).replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: DTZ006
    return round((today - timedelta(days=today.weekday(), hours=4)).timestamp() * 1000)


def go_through(root: Path, market: Market, settings: Settings, tape: Tape, until_ms: int) -> None:
    """Store the tape's candles up to a moment, and train on each as it closed."""
    folder = DataFolder(root)
    folder.ensure()
    closed = tape.closed(until_ms)
    db = open_database(folder.database)
    CandleStore(db).save(market, closed)
    db.close()
    clock = ManualClock(closed[0].open_time_ms)
    service = TrainingService(SessionSpec(root, market, settings), clock)
    try:
        service.opening_events()
        for candle in closed:
            closed_at_ms = market.interval.close_time_ms(candle.open_time_ms)
            clock.advance_ms(closed_at_ms + _AFTER_CLOSE_MS - clock.now_ms())
            service.handle(rigs.observed(candle, ForecastMode.LIVE, market))
        service.handle(StopSession())
    finally:
        service.close()
