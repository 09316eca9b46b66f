"""The cost of saving and loading candles, relative to the bare SQL statements."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlite_utils import Database

from core.storage.candles import CandleStore
from core.storage.database import open_database, write
from desktop.app.interpreter import short_turns
from tests.core.storage.samples import MARKET, candle

pytestmark = pytest.mark.benchmark

COUNT, ROUNDS = 1_000, 5
MOST_BARE = 12.0
"""Saving first compares candles, and loading creates objects from rows: 2 to 6 were measured."""
READ_BESIDE = 100


def _best_s(work: Callable[[int], object]) -> float:
    times = []
    for number in range(ROUNDS):
        began = time.perf_counter()
        work(number)
        times.append(time.perf_counter() - began)
    return min(times)


def test_storing_a_thousand_candles_costs_a_few_times_plain_sql(tmp_path: Path) -> None:
    with open_database(tmp_path / "db.sqlite3") as db:
        store = CandleStore(db)
        saving = _best_s(lambda turn: store.save(MARKET, [candle(turn * COUNT + place) for place in range(COUNT)]))
        loading = _best_s(lambda _: store.newest(MARKET, 2 * COUNT))
        bare_saving, bare_loading = _best_s(lambda turn: _insert(db, turn)), _best_s(lambda _: _select(db))
    ratios = {"saving": saving / bare_saving, "loading": loading / bare_loading}
    print(ratios)
    assert max(ratios.values()) < MOST_BARE, ratios


def _insert(db: Database, turn: int) -> None:
    if not turn:
        db.conn.execute("CREATE TABLE bare (time INTEGER PRIMARY KEY, a REAL, b REAL, c REAL, d REAL, e REAL)")
    rows = [(turn * COUNT + place, 1.0, 1.0, 1.0, 1.0, 1.0) for place in range(COUNT)]
    with write(db):
        db.conn.executemany("INSERT INTO bare VALUES (?, ?, ?, ?, ?, ?)", rows)


def _select(db: Database) -> list[object]:
    return db.conn.execute("SELECT * FROM bare ORDER BY time DESC LIMIT ?", (2 * COUNT,)).fetchall()


def test_candles_are_read_sooner_beside_a_thread_that_computes_if_its_turns_are_short(tmp_path: Path) -> None:
    """As the window reads those of another market, while a panel's thread is at work."""
    with open_database(tmp_path / "db.sqlite3") as db, computing():
        store = CandleStore(db)
        store.save(MARKET, [candle(place) for place in range(READ_BESIDE)])
        usual_s = _best_s(lambda _: store.columns_before(MARKET, None, READ_BESIDE))
        with short_turns():
            short_s = _best_s(lambda _: store.columns_before(MARKET, None, READ_BESIDE))
    print(f"\n{usual_s / short_s:.1f} times as long with the usual turns")
    assert usual_s / short_s > 3.0


@contextmanager
def computing() -> Iterator[None]:
    """On another thread, meanwhile."""
    is_over = threading.Event()

    def compute() -> None:
        while not is_over.is_set():
            sum(range(1_000))

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
