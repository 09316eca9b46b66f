"""Ghosts before the trainer has reached the newest candle: by the simple rules, not stored in the record."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.candle import Candle, Market
from core.domain.clock import ManualClock
from core.domain.events import EventBatch, FirstForecast, ForecastMade, TrainerEvent, TrainerReady
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.commands import ShowMarket, TrainerCommand
from core.training.hosting.driver import TrainingDriver
from core.training.hosting.first_forecasts import FirstForecasts
from core.training.hosting.host import ThreadHost
from core.training.hosting.inbox import Inbox
from tests.core.training import rigs
from tests.support.candles import MARKET, MINUTE, random_walk
from tests.support.driven import record_of, store_candles

OTHER = Market("file", "other", MINUTE)


def drive(
    root: Path, candles: list[Candle], *, shows_first: Market | None, then: tuple[TrainerCommand, ...] = ()
) -> list[TrainerEvent]:
    store_candles(root, candles)
    events: list[TrainerEvent] = []
    inbox, clock = Inbox(), ManualClock()

    def emit(batch: EventBatch) -> None:
        clock.advance_ms(1_500)  # so that each turn may look again
        events.extend(batch.events)

    for command in then:
        inbox.send(command)
    inbox.feed_ended(MARKET)
    with closing(open_database(DataFolder(root).database)) as db:
        make_host = lambda spec: ThreadHost(spec, clock)  # noqa: E731
        TrainingDriver(rigs.spec(root), make_host, CandleStore(db), inbox, emit, clock, shows_first=shows_first).run()
    return events


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CandleStore]:
    DataFolder(tmp_path).ensure()
    with closing(open_database(DataFolder(tmp_path).database)) as db:
        yield CandleStore(db)


def test_first_ghosts_appear_before_the_trainer_and_leave_no_trace(tmp_path: Path) -> None:
    candles = random_walk(40)
    events = drive(tmp_path / "with", candles, shows_first=MARKET)
    first = next(event for event in events if isinstance(event, FirstForecast))
    ready = next(event for event in events if isinstance(event, TrainerReady))
    assert events.index(first) < events.index(ready)
    made = first.forecast
    assert made.origin_open_time_ms == candles[-1].open_time_ms and made.is_by_simple_rules
    assert [ghost.open_time_ms for ghost in made.ghosts] == [
        candles[-1].open_time_ms + ahead * MINUTE.duration_ms for ahead in (1, 2, 3)
    ]
    learned = [event for event in events if isinstance(event, ForecastMade)]
    assert len(learned) == 40 and not any(event.is_by_simple_rules for event in learned)

    without = drive(tmp_path / "without", candles, shows_first=None)
    assert not any(isinstance(event, FirstForecast) for event in without)
    assert record_of(tmp_path / "with") == record_of(tmp_path / "without")


def test_first_forecasts_are_of_the_market_on_the_chart(tmp_path: Path, store: CandleStore) -> None:
    clock = ManualClock()
    walks = {MARKET: random_walk(60), OTHER: random_walk(90, seed=9)}
    for market, candles in walks.items():
        store.save(market, candles)
    first = FirstForecasts(rigs.spec(tmp_path), store, clock, MARKET)
    for market in (MARKET, OTHER, MARKET):
        first.show(market)
        made = first.look(is_behind=False)
        assert made is not None and made.market == market
        newest = walks[market][-1]
        assert (made.forecast.origin_open_time_ms, made.forecast.origin_close) == (newest.open_time_ms, newest.close)
        first.show(market)
        clock.advance_ms(1_500)
        assert first.look(is_behind=False) is None, "it was shown"


def test_the_other_markets_have_first_forecasts_in_turn(tmp_path: Path, store: CandleStore) -> None:
    """So that all of them have ghosts in Markets and Overview during catch-up."""
    clock, third = ManualClock(), Market("file", "third", MINUTE)
    for market in (MARKET, OTHER, third):
        store.save(market, random_walk(60))
    first = FirstForecasts(replace(rigs.spec(tmp_path), others=(OTHER, third)), store, clock, OTHER)
    found: list[Market | None] = []
    for _ in range(3):  # seconds, with several turns of the driver in each
        made = [first.look(is_behind=False) for _ in range(4)]
        found += [each.market for each in made if each is not None]
        clock.advance_ms(1_000)
    assert found[0] == OTHER, "the one on the chart comes first"
    assert sorted(map(str, found)) == sorted(map(str, (MARKET, OTHER, third))), "each once"


def test_the_driver_forecasts_another_market_once_it_is_shown(tmp_path: Path) -> None:
    candles = random_walk(32)
    events = drive(tmp_path, candles, shows_first=OTHER, then=(ShowMarket(MARKET),))
    first = next(event for event in events if isinstance(event, FirstForecast))
    assert first.market == MARKET and first.forecast.origin_open_time_ms == candles[-1].open_time_ms


def test_first_forecasts_follow_the_candles_until_the_trainer_is_near(tmp_path: Path, store: CandleStore) -> None:
    candles, clock = random_walk(200), ManualClock()
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
        event for event in drive(tmp_path / "other", candles[:2], shows_first=None) if isinstance(event, ForecastMade)
    )
    first.committed(replace(made, origin_open_time_ms=candles[149].open_time_ms))
    assert look(169) is None
    assert look(169, is_behind=True) == candles[168].open_time_ms, "the note says that the simple rules forecast"
    assert look(170) == candles[169].open_time_ms


def test_the_rules_take_no_memory_once_the_trainer_is_near(tmp_path: Path, store: CandleStore) -> None:
    candles, clock = random_walk(60), ManualClock()
    store.save(MARKET, candles[:50])
    made = next(
        event for event in drive(tmp_path / "other", candles[:2], shows_first=None) if isinstance(event, ForecastMade)
    )
    tracemalloc.start()
    try:
        first = FirstForecasts(rigs.spec(tmp_path), store, clock, MARKET)
        before = tracemalloc.get_traced_memory()[0]
        assert first.look(is_behind=True) is not None
        held = tracemalloc.get_traced_memory()[0] - before
        store.save(MARKET, candles)
        clock.advance_ms(1_000)
        first.committed(replace(made, origin_open_time_ms=candles[-1].open_time_ms))
        assert first.look(is_behind=False) is None
        assert tracemalloc.get_traced_memory()[0] - before < held / 2
    finally:
        tracemalloc.stop()
