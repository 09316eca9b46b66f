"""Ghosts before the trainer has reached the newest candle: by the simple rules, not stored in the record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from core.domain.candle import Candle
from core.domain.clock import ManualClock
from core.domain.events import EventBatch, FirstForecast, ForecastMade, TrainerEvent, TrainerReady
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.first_forecasts import FirstForecasts
from core.training.hosting.host import ThreadHost
from core.training.hosting.inbox import Inbox
from tests.core.training import rigs
from tests.support.candles import MARKET, MINUTE, random_walk
from tests.support.driven import record_of, store_candles


def drive(root: Path, candles: list[Candle], *, shows_first: bool) -> list[TrainerEvent]:
    store_candles(root, candles)
    events: list[TrainerEvent] = []
    inbox, clock = Inbox(), ManualClock()

    def emit(batch: EventBatch) -> None:
        clock.advance_ms(1_500)  # so that each turn may look again
        events.extend(batch.events)

    inbox.feed_ended()
    db = open_database(DataFolder(root).database)
    TrainingDriver(
        rigs.spec(root),
        lambda spec: ThreadHost(spec, clock),
        CandleStore(db),
        inbox,
        emit,
        clock,
        shows_first=MARKET if shows_first else None,
    ).run()
    db.close()
    return events


def test_first_ghosts_appear_before_the_trainer_and_leave_no_trace(tmp_path: Path) -> None:
    candles = random_walk(60)
    events = drive(tmp_path / "with", candles, shows_first=True)
    first = next(event for event in events if isinstance(event, FirstForecast))
    ready = next(event for event in events if isinstance(event, TrainerReady))
    assert events.index(first) < events.index(ready)
    made = first.forecast
    assert made.origin_open_time_ms == candles[-1].open_time_ms and made.is_by_simple_rules
    assert [ghost.open_time_ms for ghost in made.ghosts] == [
        candles[-1].open_time_ms + ahead * MINUTE.duration_ms for ahead in (1, 2, 3)
    ]
    learned = [event for event in events if isinstance(event, ForecastMade)]
    assert len(learned) == 60 and not any(event.is_by_simple_rules for event in learned)

    without = drive(tmp_path / "without", candles, shows_first=False)
    assert not any(isinstance(event, FirstForecast) for event in without)
    assert record_of(tmp_path / "with") == record_of(tmp_path / "without")


def test_first_forecasts_follow_the_candles_until_the_trainer_is_near(tmp_path: Path) -> None:
    candles, clock = random_walk(200), ManualClock()
    store_candles(tmp_path, candles[:20])
    db = open_database(DataFolder(tmp_path).database)
    store = CandleStore(db)
    first = FirstForecasts(rigs.spec(tmp_path), store, clock, MARKET)

    def look(stored: int, *, is_behind: bool = False) -> int | None:
        store.save(MARKET, candles[:stored])
        clock.advance_ms(1_000)
        made = first.look(is_behind=is_behind)
        return None if made is None else made.forecast.origin_open_time_ms

    assert look(20) is None, "too few to forecast from"
    assert look(100) == candles[99].open_time_ms
    assert look(100) is None, "it was shown"
    assert look(103) == candles[102].open_time_ms
    made = next(
        event for event in drive(tmp_path / "other", candles[:2], shows_first=False) if isinstance(event, ForecastMade)
    )
    first.committed(replace(made, origin_open_time_ms=candles[149].open_time_ms))
    assert look(169) is None
    assert look(169, is_behind=True) == candles[168].open_time_ms, "the note says that the simple rules forecast"
    assert look(170) == candles[169].open_time_ms
    db.close()
