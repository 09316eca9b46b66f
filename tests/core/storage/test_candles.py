"""The candle store against a dictionary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count as numbers_from

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from core.domain.candle import Candle, Inside, Interval, Market
from core.storage.candles import CandleStore, StoredColumns
from core.storage.database import open_database
from tests.core.storage.samples import MARKET, candle

OTHER = Market("simulated", MARKET.symbol, MARKET.interval)
PRICES = st.floats(1e-4, 1e4)


def _candle(open_time_ms: int, opening: float, close: float, volume: float) -> Candle:
    return Candle(open_time_ms, opening, max(opening, close), min(opening, close), close, volume)


CANDLES = st.builds(_candle, st.integers(-3, 12), PRICES, PRICES, st.sampled_from([1.0, 2.0]))
SAVES = st.lists(st.tuples(st.booleans(), st.lists(CANDLES, max_size=12)), max_size=6)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One database for all examples; each uses different markets."""
    with open_database(tmp_path_factory.mktemp("candles") / "db.sqlite3") as db:
        db.execute("PRAGMA synchronous = OFF")
        yield db


_NUMBERS = numbers_from()


def fresh_markets() -> tuple[Market, Market]:
    symbol = f"NEW{next(_NUMBERS)}/USDT"
    return replace(MARKET, symbol=symbol), replace(OTHER, symbol=symbol)


@settings(max_examples=60)
@given(saves=SAVES, after_ms=st.none() | st.integers(-4, 13), count=st.integers(0, 15))
def test_the_store_equals_a_dictionary(
    shared: Database, saves: list[tuple[bool, list[Candle]]], after_ms: int | None, count: int
) -> None:
    markets, store = fresh_markets(), CandleStore(shared)
    expected: dict[Market, dict[int, Candle]] = {market: {} for market in markets}
    for is_other, candles in saves:
        market, changed = markets[is_other], 0
        for one in candles:
            changed += expected[market].get(one.open_time_ms) != one
            expected[market][one.open_time_ms] = one
        assert store.save(market, candles) == changed
    for market, by_time in expected.items():
        ascending = [by_time[open_time] for open_time in sorted(by_time)]
        assert store.load(market) == ascending
        assert store.count(market) == len(ascending)
        assert store.newest(market, count) == ascending[len(ascending) - min(count, len(ascending)) :]
        assert store.latest_open_time_ms(market) == (ascending[-1].open_time_ms if ascending else None)
        later = [one for one in ascending if after_ms is None or one.open_time_ms > after_ms]
        assert store.load(market, after_ms=after_ms, limit=count) == later[:count]


def test_an_inside_is_kept_as_it_was_when_the_candle_was_stored(db: Database) -> None:
    """Forecasts were made from it, and are made again from it after a kill."""
    store, first, second = CandleStore(db), *(Inside(5, 0.5, 0.25, 0.125, 0.0625, each, 0.5) for each in (0.25, 0.75))
    store.save(MARKET, [replace(candle(0), inside=first), candle(1)])
    store.save(MARKET, [replace(candle(number), inside=second) for number in range(3)])
    expected = [first, None, second]
    assert [each.inside for each in store.load(MARKET)] == expected
    assert [each.inside for each in store.newest(MARKET, 3)] == expected


def test_a_saved_candle_is_seen_by_a_second_connection(db: Database, other: Database) -> None:
    CandleStore(db).save(MARKET, [candle(2), candle(1)])
    assert CandleStore(other).load(MARKET) == [candle(1), candle(2)]


def test_markets_differing_in_one_field_are_separate(db: Database) -> None:
    store = CandleStore(db)
    markets = [MARKET, OTHER, Market("binance", "ETH/USDT", MARKET.interval)]
    markets.append(Market("binance", "BTC/USDT", Interval.parse("5m")))
    for number, market in enumerate(markets):
        store.save(market, [candle(number)])
    assert [store.load(market) for market in markets] == [[candle(number)] for number in range(4)]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_non_finite_number_refuses_its_whole_batch(db: Database, bad: float) -> None:
    with pytest.raises(ValueError, match="not a number"):
        CandleStore(db).save(MARKET, [candle(1), candle(2, close=bad)])
    assert CandleStore(db).count(MARKET) == 0


@settings(max_examples=40)
@given(
    candles=st.lists(CANDLES, max_size=16),
    before_ms=st.none() | st.integers(-4, 14),
    limit=st.integers(0, 15),
    chunk=st.integers(1, 6),
)
def test_columns_and_chunks_equal_the_candles(
    shared: Database, candles: list[Candle], before_ms: int | None, limit: int, chunk: int
) -> None:
    (market, other), store = fresh_markets(), CandleStore(shared)
    store.save(market, candles)
    store.save(other, [candle(number) for number in range(3)])
    older = [one for one in store.load(market) if before_ms is None or one.open_time_ms < before_ms]
    assert as_candles(store.columns_before(market, before_ms, limit)) == older[max(0, len(older) - limit) :]
    chunks = list(store.column_chunks(market, chunk))
    assert [one for part in reversed(chunks) for one in as_candles(part)] == store.load(market)
    assert all(len(part) == chunk for part in chunks[:-1])


def test_an_unknown_market_has_no_columns(db: Database) -> None:
    columns = CandleStore(db).columns_before(MARKET, None, 10)
    assert (columns.open_time_ms.shape, columns.values.shape) == ((0,), (5, 0))
    assert list(CandleStore(db).column_chunks(MARKET)) == []


def test_a_chunk_leaves_no_transaction_open(db: Database, other: Database) -> None:
    CandleStore(db).save(MARKET, [candle(number) for number in range(10)])
    chunks = CandleStore(other).column_chunks(MARKET, chunk=4)
    assert len(next(chunks)) == 4
    CandleStore(db).save(MARKET, [candle(2, close=100.5), candle(10)])
    busy, *_ = db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    assert not busy, "a reader between two chunks holds nothing"
    assert [one.close for part in chunks for one in as_candles(part)].count(100.5) == 1


def as_candles(columns: StoredColumns) -> list[Candle]:
    return [
        Candle(int(time_ms), *map(float, row))
        for time_ms, row in zip(columns.open_time_ms, columns.values.T, strict=True)
    ]
