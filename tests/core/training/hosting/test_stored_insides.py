"""Runs over stored candles whose insides come from stored minutes: those of real markets where they are on this
machine, else of random walks."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from core.domain.candle import Candle, Interval, Market
from core.domain.clock import SystemClock
from core.market.feeds.replay import StoredFeed
from core.market.history.candle_file import read_candle_file
from core.market.history.insides import joined
from core.storage.candles import CandleStore
from core.storage.database import open_database
from core.storage.folder import DataFolder
from core.training.hosting.stored_insides import find_insides
from core.training.online.trainer_spec import SessionSpec
from tests.conftest import SHARED_DATA
from tests.core.training import rigs
from tests.core.training.hosting.test_driven_together import HOSTS, drive, record
from tests.support.candles import MINUTE, random_walk, without, write_csv

FIVE = Interval.parse("5m")
NAMES = ("ADA", "DOT")
MARKETS = tuple(Market("binance", f"{name}/USDT", FIVE) for name in NAMES)
COUNT = 48
"""HAR, which reads the insides, is part of a forecast from 30 scored ones on."""
ALTERED = 36
Minutes = list[list[Candle]]


@pytest.fixture(scope="module", params=["walks", "real"])
def minutes(request: pytest.FixtureRequest) -> Minutes:
    """Of each market, for this many candles."""
    if request.param == "walks":
        return [random_walk(5 * COUNT, seed=seed) for seed in (1, 2)]
    files = [SHARED_DATA / "panel_usd" / f"{name}USDT_1m.csv.gz" for name in NAMES]
    if not files[0].exists():
        pytest.skip("the real market data (../shared/data) is not on this machine")
    whole = (read_candle_file(file).candles for file in files)
    return [[each for each in candles[: 5 * COUNT + 4] if _is_in_whole(each, candles[0])] for candles in whole]


def _is_in_whole(candle: Candle, first: Candle) -> bool:
    """Whether it is in a candle that the file has from its beginning."""
    return candle.open_time_ms >= -(-first.open_time_ms // FIVE.duration_ms) * FIVE.duration_ms


def stored(root: Path, minutes: Minutes, finer: Minutes | None = None) -> SessionSpec:
    """A folder with the candles of these minutes, and besides them these (the same) minutes."""
    folder = DataFolder(root)
    folder.ensure()
    with closing(open_database(folder.database)) as db:
        for market, each in zip(MARKETS, minutes, strict=True):
            file = joined(read_candle_file(write_csv(root / "minutes.csv", each)), FIVE)
            CandleStore(db).save(market, [replace(candle, inside=None) for candle in file.candles])
    put(root, minutes if finer is None else finer)
    return SessionSpec(root, MARKETS[0], rigs.SMALL, others=MARKETS[1:])


def put(root: Path, minutes: Minutes) -> None:
    with closing(open_database(DataFolder(root).database)) as db:
        for market, each in zip(MARKETS, minutes, strict=True):
            CandleStore(db).save(replace(market, interval=MINUTE), each)


def begin(spec: SessionSpec) -> SessionSpec:
    """The spec with what the stored minutes say of the stored candles."""
    feeds = {market: StoredFeed(market, SystemClock()) for market in spec.markets}
    find_insides(DataFolder(spec.root).database, feeds)
    return replace(spec, reads_inside=any(feed.has_insides for feed in feeds.values()))


def counts(root: Path) -> list[int]:
    with closing(open_database(DataFolder(root).database, readonly=True)) as db:
        candles = [candle for market in MARKETS for candle in CandleStore(db).load(market)]
    return [0 if candle.inside is None else candle.inside.count for candle in candles]


@pytest.mark.parametrize("kind", ["process in a thread", pytest.param("process", marks=pytest.mark.slow)])
def test_every_host_gives_the_same_bytes_with_insides_and_others_without(
    tmp_path: Path, minutes: Minutes, kind: str
) -> None:
    spec = begin(stored(tmp_path / "one", minutes))
    drive(spec)
    other = begin(stored(tmp_path / "other", minutes))
    drive(other, HOSTS[kind])
    plain = begin(stored(tmp_path / "plain", minutes, [[], []]))
    drive(plain)
    assert spec.reads_inside and not plain.reads_inside
    assert record(spec.root) == record(other.root) != record(plain.root)
    assert np.mean(counts(spec.root)) > 4.5


def test_minutes_that_come_after_the_forecasts_change_no_run(tmp_path: Path, minutes: Minutes) -> None:
    """The list has holes, then comes again without, while the run is away; what it has read stays as it was."""
    holed = [without(each, 7, *range(20, 25)) for each in minutes]
    spec = begin(stored(tmp_path, minutes, holed))
    drive(spec)
    before, read = record(tmp_path), counts(tmp_path)
    put(tmp_path, minutes)
    assert begin(spec).reads_inside
    assert counts(tmp_path) == read and 0 in read and 4 in read
    drive(spec)
    assert record(tmp_path) == before


def test_a_run_that_reads_no_insides_does_not_keep_a_new_one_from_them(tmp_path: Path, minutes: Minutes) -> None:
    plain = begin(stored(tmp_path, minutes, [[], []]))
    drive(plain)
    before = record(tmp_path)
    put(tmp_path, minutes)
    spec = begin(plain)
    assert spec.reads_inside and np.mean(counts(tmp_path)) > 4.5
    drive(replace(plain, settings=spec.settings))
    assert record(tmp_path) == before, "the old run has them, and reads none"
    drive(replace(spec, new_run=True))
    assert record(tmp_path)[0] not in before


def test_no_forecast_depends_on_minutes_after_its_candle(tmp_path: Path, minutes: Minutes) -> None:
    """The minutes are wilder from the middle of a candle on: that candle's inside is the first to differ."""
    place = 5 * ALTERED + 2
    altered = [[*each[:place], *(replace(one, low=0.8 * one.low) for one in each[place:])] for each in minutes]
    honest, other = (
        begin(stored(tmp_path / name, minutes, finer)) for name, finer in (("honest", minutes), ("other", altered))
    )
    drive(honest)
    drive(other)
    (of_honest, of_other) = (forecasts(spec) for spec in (honest, other))
    assert len(of_honest) == len(of_other) >= COUNT - 1
    same = [np.array_equal(one, two) for one, two in zip(of_honest, of_other, strict=True)]
    assert same[:ALTERED] == [True] * ALTERED and not any(same[ALTERED:])


def forecasts(spec: SessionSpec) -> list[np.ndarray]:
    with closing(open_database(DataFolder(spec.root).database, readonly=True)) as db:
        reader = rigs.RecordReader(db, db.execute("SELECT run_id FROM runs ORDER BY sequence LIMIT 1").fetchone()[0])
        return [each.quantiles.shown for each in reader.forecasts_after(None)]
