"""From a file to the database and back: comparison, storage and exact export."""

from __future__ import annotations

import importlib.util
import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlite_utils import Database

from core.domain.candle import Candle, Interval, Market
from core.domain.candle_faults import HIGHEST_PRICE, LARGEST_VOLUME, LOWEST_PRICE
from core.domain.spans import TimeSpan
from core.market.history.candle_table import ReadOptions
from core.market.history.errors import HistoryError
from core.market.history.export import export_candles
from core.market.history.guess_market import suggested_symbol, symbol_of, venue_of
from core.market.history.import_plan import NOT_OVER, HistoryWriter, ImportPlan, plan_import
from core.market.history.read import read_candle_table
from core.storage.candles import CandleStore
from core.storage.database import open_database
from tests.support.candles import MARKET, MINUTE, START_MS, random_walk, without, write_csv

ALWAYS = TimeSpan(0, 2**62)
LATE_MS = START_MS * 2
HAS_ARROW = importlib.util.find_spec("pyarrow") is not None
FORMS = [
    "csv",
    "csv.gz",
    *(
        pytest.param(form, marks=pytest.mark.skipif(not HAS_ARROW, reason="pyarrow is an extra"))
        for form in ("feather", "parquet")
    ),
]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "one.sqlite3") as opened:
        yield opened


@pytest.fixture
def store(db: Database) -> CandleStore:
    return CandleStore(db)


def plan(store: CandleStore, path: Path, *, now_ms: int = LATE_MS, replaces: bool = False) -> ImportPlan:
    table = read_candle_table(path)
    market = Market(MARKET.venue, MARKET.symbol, table.interval)
    return plan_import(table, market, store, now_ms, replaces=replaces)


def carry_out(db: Database, planned: ImportPlan) -> int:
    return HistoryWriter(db).put(planned.market, planned.to_store, replaces=planned.replaces)


def test_a_plan_lists_the_changes_and_changes_nothing(store: CandleStore, tmp_path: Path) -> None:
    candles = without(random_walk(50), 20, 21, 30)
    store.save(MARKET, [*candles[:10], Candle(candles[10].open_time_ms, 1.0, 1.0, 1.0, 1.0, 1.0)])
    planned = plan(store, write_csv(tmp_path / "a.csv", candles))
    assert (planned.new, planned.same, planned.different) == (36, 10, 1)
    described = planned.describe()
    assert (described["holes"], described["missing"], described["interval"]) == (2, 3, "1m")
    assert store.count(MARKET) == 11


@pytest.mark.parametrize("replaces", [False, True])
def test_stored_candles_are_kept_unless_overwriting_is_requested(
    db: Database, store: CandleStore, tmp_path: Path, replaces: bool
) -> None:
    candles = random_walk(30)
    other = Candle(candles[4].open_time_ms, 1.0, 1.0, 1.0, 1.0, 1.0)
    store.save(MARKET, [other])
    path = write_csv(tmp_path / "a.csv", candles)
    assert carry_out(db, plan(store, path, replaces=replaces)) == (30 if replaces else 29)
    expected = candles if replaces else [*candles[:4], other, *candles[5:]]
    assert store.load(MARKET) == expected
    again = plan(store, path, replaces=replaces)
    assert carry_out(db, again) == 0 and store.load(MARKET) == expected


def test_an_open_candle_is_skipped(store: CandleStore, tmp_path: Path) -> None:
    candles = random_walk(10)
    planned = plan(store, write_csv(tmp_path / "a.csv", candles), now_ms=candles[-1].open_time_ms + 59_999)
    assert len(planned.candles) == 9 and planned.table.rejected[NOT_OVER] == 1


def test_a_grid_different_from_the_stored_one_is_refused(store: CandleStore, tmp_path: Path) -> None:
    store.save(MARKET, random_walk(5))
    shifted = random_walk(5, start_ms=START_MS + 30_000)
    with pytest.raises(HistoryError, match="30 s off"):
        plan(store, write_csv(tmp_path / "a.csv", shifted))


positive = st.floats(LOWEST_PRICE, HIGHEST_PRICE)
ratios = st.floats(1e-8, 1e8)
volumes = st.floats(0, LARGEST_VOLUME)
steps = st.integers(1, 4)


def _candle(open_time_ms: int, opened: float, close: float, volume: float) -> Candle:
    return Candle(open_time_ms, opened, max(opened, close), min(opened, close), close, volume)


@pytest.mark.parametrize("form", FORMS)
def test_an_export_is_imported_bit_for_bit(tmp_path: Path, form: str) -> None:
    with open_database(tmp_path / "one.sqlite3") as db, open_database(tmp_path / "two.sqlite3") as other:
        numbers = itertools.count()

        @settings(max_examples=20)
        @given(drawn=st.lists(st.tuples(steps, positive, ratios, volumes), min_size=2, max_size=20))
        def round_trip(drawn: list[tuple[int, float, float, float]]) -> None:
            number = next(numbers)
            market = Market(MARKET.venue, f"TEST{number}", MINUTE)
            times = START_MS + 60_000 * np.cumsum([1, *(row[0] for row in drawn[1:-1]), 1])
            candles = [
                _candle(int(time), opened, min(HIGHEST_PRICE, max(LOWEST_PRICE, opened * ratio)), volume)
                for time, (_, opened, ratio, volume) in zip(times, drawn, strict=True)
            ]
            CandleStore(db).save(market, candles)
            path = tmp_path / f"{number}.{form}"
            assert export_candles(CandleStore(db), market, ALWAYS, path) == len(candles)
            table = read_candle_table(path, ReadOptions(interval=MINUTE))
            planned = plan_import(table, market, CandleStore(other), LATE_MS, replaces=False)
            HistoryWriter(other).put(market, planned.to_store, replaces=False)
            assert CandleStore(other).load(market) == CandleStore(db).load(market) == candles
            assert not table.rejected

        round_trip()


def test_an_export_is_atomic(store: CandleStore, tmp_path: Path) -> None:
    store.save(MARKET, random_walk(10))
    path = tmp_path / "out.csv"

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export_candles(store, MARKET, ALWAYS, path, on_progress=stop)
    assert [file.name for file in tmp_path.iterdir() if file.suffix != ".sqlite3" and "sqlite" not in file.name] == []
    assert export_candles(store, MARKET, TimeSpan(START_MS + 60_000, START_MS + 180_000), path) == 2
    with pytest.raises(HistoryError, match="--overwrite"):
        export_candles(store, MARKET, ALWAYS, path)
    with pytest.raises(HistoryError, match="does not show the format"):
        export_candles(store, MARKET, ALWAYS, tmp_path / "out.xlsx")
    with pytest.raises(HistoryError, match="No candle"):
        export_candles(store, Market("file", "NONE", MINUTE), ALWAYS, tmp_path / "none.csv")


def test_a_files_market_is_exported_by_the_name_that_is_shown(store: CandleStore, tmp_path: Path) -> None:
    """No command and no panel shows the fingerprint."""
    shown = Market("file", "mine", MINUTE)
    store.save(Market("file", "mine#99b6f1", MINUTE), random_walk(5))
    assert export_candles(store, shown, ALWAYS, tmp_path / "out.csv") == 5
    with pytest.raises(HistoryError, match="No candle"):
        export_candles(store, Market("file", "mine#000000", MINUTE), ALWAYS, tmp_path / "other.csv")
    store.save(Market("file", "mine#d83bff", MINUTE), random_walk(6))
    with pytest.raises(HistoryError, match=r"2 files.*mine#"):
        export_candles(store, shown, ALWAYS, tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()


@pytest.mark.parametrize(
    ("name", "column", "symbol"),
    [
        ("Binance_BTCUSDT_1h.csv", None, "BTC/USDT"),
        ("binance-BTC-USDT-1m.csv.gz", None, "BTC/USDT"),
        ("btcusdt.csv", None, "BTC/USDT"),
        ("XBTUSD_60.csv", None, "BTC/USD"),
        ("candles.csv", "ETHBTC", "ETH/BTC"),
        ("candles.csv", "ETH-USDC", "ETH/USDC"),
    ],
)
def test_the_symbol_comes_from_the_file_name_or_a_column(name: str, column: str | None, symbol: str) -> None:
    assert symbol_of(Path(name), None, column) == symbol


def test_a_files_symbol_may_have_more_parts_than_the_requested_one() -> None:
    assert symbol_of(Path("candles.csv"), "BTC/USD", "BTCUSD:CUR") == "BTC/USD"


@pytest.mark.parametrize(
    ("name", "column", "wanted", "said"),
    [
        ("candles.csv", None, None, "--symbol"),
        ("history_usd.csv", None, None, "--symbol"),
        ("BTCUSDT_vs_ETHUSDT.csv", None, None, "--symbol"),
        ("candles.csv", "BTCUSDT", "ETH/USDT", "not ETH/USDT"),
    ],
)
def test_an_ambiguous_symbol_must_be_given(name: str, column: str | None, wanted: str | None, said: str) -> None:
    with pytest.raises(HistoryError, match=said):
        symbol_of(Path(name), wanted, column)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("AAPL_daily.csv", "AAPL"),
        ("intraday_5min_IBM.csv", "IBM"),
        ("dax_1h.csv", "DAX"),
        ("600977_eastmoney_20240301.csv", "600977"),
        ("ES 03-24.Last.txt", "ES"),
        ("candles_2024-01-31.csv", None),
    ],
)
def test_a_name_that_may_be_a_symbol_is_suggested(name: str, suggestion: str | None) -> None:
    assert suggested_symbol(Path(name)) == suggestion


def test_the_venue_comes_from_the_file_name() -> None:
    assert venue_of(Path("Kraken_XBTUSD.csv"), None, ("binance", "kraken")) == "kraken"
    assert venue_of(Path("a.csv"), "okx", ("binance",)) == "okx"
    with pytest.raises(HistoryError, match="--venue"):
        venue_of(Path("a.csv"), None, ("binance", "kraken"))


def test_weekly_candles_keep_their_first_day(db: Database, store: CandleStore, tmp_path: Path) -> None:
    week = Interval.parse("1w")
    candles = random_walk(6, start_ms=1_577_664_000_000, interval=week)
    planned = plan(store, write_csv(tmp_path / "w.csv", candles))
    carry_out(db, planned)
    assert store.load(Market(MARKET.venue, MARKET.symbol, week)) == candles


@pytest.mark.skipif(HAS_ARROW, reason="pyarrow is there")
def test_without_pyarrow_the_extra_is_named(store: CandleStore, tmp_path: Path) -> None:
    store.save(MARKET, random_walk(3))
    with pytest.raises(HistoryError, match=r"ghostcandle\[arrow\]"):
        export_candles(store, MARKET, ALWAYS, tmp_path / "out.parquet")
    assert not list(tmp_path.glob("*out*"))


@pytest.mark.skipif(not HAS_ARROW, reason="pyarrow is an extra")
@pytest.mark.parametrize("form", ["feather", "parquet"])
def test_pandas_frames_are_read(db: Database, store: CandleStore, tmp_path: Path, form: str) -> None:
    import pandas as pd  # noqa: PLC0415 - only with pyarrow

    candles = random_walk(20)
    frame = pd.DataFrame(
        [(c.open, c.high, c.low, c.close, c.volume) for c in candles],
        columns=["Open", "High", "Low", "Close", "Volume"],
        index=pd.to_datetime([c.open_time_ms for c in candles], unit="ms", utc=True),
    )
    path = tmp_path / f"BTC-USDT.{form}"
    if form == "feather":
        frame.reset_index(names="Date").to_feather(path)
    else:
        frame.to_parquet(path)
    carry_out(db, plan(store, path))
    assert store.load(MARKET) == candles
