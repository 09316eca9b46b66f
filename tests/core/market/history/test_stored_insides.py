"""Insides of stored candles from stored finer ones of the same market."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from core.domain.candle import Candle, Inside, Interval, Market
from core.market.history.candle_file import read_candle_file
from core.market.history.insides import joined
from core.market.history.stored_insides import store_insides
from core.market.inside import finer_market
from core.storage.candles import CandleStore
from core.storage.database import open_database
from tests.support.candles import random_walk, without, write_csv

FIVE, MINUTE = Interval.parse("5m"), Interval.parse("1m")
MARKET, MINUTES = (Market("binance", "BTC/USDT", each) for each in (FIVE, MINUTE))
WALK = random_walk(100)


@pytest.fixture
def store(tmp_path: Path) -> CandleStore:
    """With five-minute candles, and none of their minutes."""
    store = CandleStore(open_database(tmp_path / "db.sqlite3"))
    store.save(MARKET, [replace(candle, inside=None) for candle in coarse(tmp_path)])
    return store


def coarse(folder: Path) -> list[Candle]:
    return list(joined(read_candle_file(write_csv(folder / "candles.csv", WALK)), FIVE).candles)


def found(store: CandleStore) -> list[Inside | None]:
    return [candle.inside for candle in store.load(MARKET)]


def counts(store: CandleStore) -> list[int]:
    return [0 if inside is None else inside.count for inside in found(store)]


def test_stored_minutes_give_the_insides_of_a_file_of_them(store: CandleStore, tmp_path: Path) -> None:
    store.save(MINUTES, WALK)
    assert store_insides(store, MARKET, None) == 20
    assert found(store) == [candle.inside for candle in coarse(tmp_path)]


def test_many_minutes_are_read_in_parts(store: CandleStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.save(MINUTES, WALK)
    monkeypatch.setattr("core.market.history.stored_insides._FINER_AT_ONCE", 15)
    assert store_insides(store, MARKET, None) == 20
    assert counts(store) == [5] * 20


def test_minutes_that_are_missing_come_late_or_come_twice_change_no_inside_that_there_is(store: CandleStore) -> None:
    store.save(MINUTES, without(WALK[:60], 11, *range(21, 25)))
    store_insides(store, MARKET, None)
    before = found(store)
    assert counts(store) == [5, 5, 4, 5, 0, *[5] * 7, *[0] * 8]
    store.save(MINUTES, WALK)
    assert store_insides(store, MARKET, None) == 9
    assert store_insides(store, MARKET, None) == 0
    assert counts(store) == [5, 5, 4, *[5] * 17]
    assert all(now == then for now, then in zip(found(store), before, strict=True) if then is not None)


def test_candles_up_to_a_moment_stay_as_they_were_read(store: CandleStore) -> None:
    store.save(MINUTES, WALK)
    assert store_insides(store, MARKET, WALK[45].open_time_ms) == 10
    assert counts(store) == [0] * 10 + [5] * 10


def test_no_inside_depends_on_minutes_after_its_candle(store: CandleStore) -> None:
    store.save(MINUTES, [*WALK[:50], *(replace(candle, high=9.0 * candle.high) for candle in WALK[50:])])
    store_insides(store, MARKET, WALK[0].open_time_ms - 1)
    altered = found(store)
    store.db.execute("DELETE FROM insides")
    store.save(MINUTES, WALK)
    store_insides(store, MARKET, None)
    assert altered[:10] == found(store)[:10]
    assert all(one != other for one, other in zip(altered[10:], found(store)[10:], strict=True))


def test_minutes_of_another_price_are_no_inside(store: CandleStore, caplog: pytest.LogCaptureFixture) -> None:
    store.save(MINUTES, [_dearer(candle) for candle in WALK])
    with caplog.at_level("WARNING"):
        assert store_insides(store, MARKET, None) == 0
    assert "BTC/USDT" in caplog.text and not store.has_insides(MARKET)


def _dearer(candle: Candle) -> Candle:
    prices = (2.0 * each for each in (candle.open, candle.high, candle.low, candle.close))
    return Candle(candle.open_time_ms, *prices, candle.volume)


def test_the_minutes_are_preferred_and_other_markets_are_not_taken() -> None:
    hour = replace(MARKET, interval=Interval.parse("1h"))
    others = [replace(MINUTES, venue="kraken"), replace(MINUTES, symbol="ETH/USDT")]
    second = replace(MARKET, interval=Interval.parse("1s"))
    assert finer_market([*others, second, MARKET, MINUTES, hour], hour) == MINUTES
    assert finer_market([*others, MARKET, hour], hour) == MARKET
    assert finer_market([*others, MARKET, hour], MARKET) is None
