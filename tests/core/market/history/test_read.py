"""Files of candles and trades as they are found: their times, trades, gaps and broken rows."""

from __future__ import annotations

import gzip
import json
import zipfile
from collections.abc import Callable
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.domain.candle import Candle, Interval
from core.domain.spans import candles_in, holes_between
from core.market.history import table_file as table
from core.market.history.candle_table import CandleTable, ReadOptions
from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from core.market.history.skipped_rows import CUT, SPOILT, TOO_MANY_CELLS, TORN, TRADE_NUMBER, UNREADABLE_TIME
from tests.support.candles import MINUTE, START_MS, random_walk

HEADER = "time,open,high,low,close,volume\n"
HOUR = Interval.parse("1h")


def read(tmp_path: Path, text: str, name: str = "candles.csv", options: ReadOptions | None = None) -> CandleTable:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_candle_table(path, options)


def candles_of(file: CandleTable) -> list[Candle]:
    columns = file.columns
    return [Candle(int(t), *v) for t, v in zip(columns.open_time_ms, columns.values.T.tolist(), strict=True)]


def lines(candles: list[Candle], time: Callable[[int], object]) -> str:
    return "".join(f"{time(c.open_time_ms)},{c.open},{c.high},{c.low},{c.close},{c.volume}\n" for c in candles)


def moment(ms: int, zone: str = "UTC") -> datetime:
    return datetime.fromtimestamp(ms / 1000, ZoneInfo(zone))


@pytest.mark.parametrize("scale", [1000, 1, 1e-3])
def test_binance_raw_columns_newest_first_in_every_unit(tmp_path: Path, scale: float) -> None:
    candles = random_walk(40)
    shown = lines(candles[::-1], lambda ms: f"{ms / scale:.0f}").splitlines()
    closes = [f"{(candle.open_time_ms + 59_999) / scale:.0f}" for candle in reversed(candles)]
    raw = [f"{line},{close},1,2,3,4,0" for line, close in zip(shown, closes, strict=True)]
    assert candles_of(read(tmp_path, "\n".join(raw) + "\n")) == candles


def test_a_unit_that_changes_within_the_file_is_read_row_by_row(tmp_path: Path) -> None:
    candles = random_walk(20)
    text = lines(candles[:10], lambda ms: ms) + lines(candles[10:], lambda ms: ms * 1000)
    assert candles_of(read(tmp_path, text)) == candles


@pytest.mark.parametrize(
    "layout",
    ["%Y-%m-%d %I-%p", "%m/%d/%Y %I:%M:%S %p", "%d/%m/%Y %I:%M %p", "%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S +0000"],
)
def test_am_and_pm_and_zones(tmp_path: Path, layout: str) -> None:
    candles = random_walk(24 * 20, interval=HOUR)
    text = HEADER + lines(candles, lambda ms: moment(ms).strftime(layout))
    assert candles_of(read(tmp_path, text)) == candles


def test_a_date_and_half_day_hours_in_two_columns(tmp_path: Path) -> None:
    candles = random_walk(48, interval=HOUR)
    text = "Date,Time,Open,High,Low,Close,Volume\n" + lines(
        candles, lambda ms: moment(ms).strftime("%Y-%m-%d,%I:%M %p")
    )
    assert candles_of(read(tmp_path, text)) == candles


def test_wall_time_of_a_named_zone(tmp_path: Path) -> None:
    zone = "America/New_York"
    start_ms = round(datetime(2020, 3, 5, 14, tzinfo=UTC).timestamp() * 1000)  # over the change to summer time
    candles = random_walk(120, start_ms=start_ms, interval=HOUR)
    text = HEADER + lines(candles, lambda ms: moment(ms, zone).strftime("%Y-%m-%d %H:%M:%S"))
    file = read(tmp_path, text, options=ReadOptions(zone=ZoneInfo(zone)))
    assert candles_of(file) == candles


@pytest.mark.parametrize("is_newest_first", [True, False])
def test_the_hours_of_a_clock_change_are_known_by_the_order_of_the_rows(tmp_path: Path, is_newest_first: bool) -> None:
    zone = "America/New_York"
    start_ms = round(datetime(2020, 11, 1, 0, tzinfo=UTC).timestamp() * 1000)
    candles = random_walk(24, start_ms=start_ms, interval=HOUR)
    rows = lines(candles, lambda ms: moment(ms, zone).strftime("%Y-%m-%d %H:%M:%S")).splitlines(keepends=True)
    order = slice(None, None, -1 if is_newest_first else 1)
    options = ReadOptions(zone=ZoneInfo(zone))
    assert candles_of(read(tmp_path, HEADER + "".join(rows[order]), options=options)) == candles
    repeated = next(place for place, candle in enumerate(candles) if moment(candle.open_time_ms, zone).fold)
    file = read(tmp_path, HEADER + "".join((rows[:repeated] + rows[repeated + 1 :])[order]), options=options)
    assert file.rejected == {UNREADABLE_TIME: 1}, "of one row alone nothing tells which hour it is of"


def test_a_later_part_may_decide_which_field_is_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "CHUNK_ROWS", 10)
    candles = random_walk(28, start_ms=1_577_836_800_000, interval=Interval.parse("1d"))
    for layout in ("%d/%m/%Y", "%m/%d/%Y"):
        text = HEADER + lines(candles, lambda ms, layout=layout: moment(ms).strftime(layout))
        assert candles_of(read(tmp_path, text)) == candles


def test_parts_are_joined_without_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    candles = random_walk(57)
    text = HEADER + lines(candles, lambda ms: moment(ms).isoformat()) + "\n"
    monkeypatch.setattr(table, "CHUNK_ROWS", 10)
    file = read(tmp_path, text)
    assert candles_of(file) == candles and file.rows == 57


def test_compressed_files_are_read(tmp_path: Path) -> None:
    candles = random_walk(20)
    text = (HEADER + lines(candles, lambda ms: ms)).encode()
    (tmp_path / "one.csv.gz").write_bytes(gzip.compress(text))
    with zipfile.ZipFile(tmp_path / "one.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.csv", text)
    for name in ("one.csv.gz", "one.zip"):
        assert candles_of(read_candle_table(tmp_path / name)) == candles
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(text)[:-20])
    with pytest.raises(CandleFileError, match="unpack"):
        read_candle_table(tmp_path / "cut.csv.gz")


def test_utf16_and_grouped_digits(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    rows = "".join(f'2020-01-0{day}\t"1,000.5"\t"2,000"\t"900.25"\t"1,500"\t10\n' for day in (1, 2, 3))
    path.write_text("Date\tOpen\tHigh\tLow\tClose\tVolume\n" + rows, encoding="utf-16")
    assert candles_of(read_candle_table(path))[0] == Candle(1_577_836_800_000, 1000.5, 2000.0, 900.25, 1500.0, 10.0)


def test_bad_rows_are_counted_by_reason_and_the_rest_is_read(tmp_path: Path) -> None:
    candles = random_walk(50)
    rows = lines(candles, lambda ms: ms).splitlines()
    rows[3] = "soon,1,2,0.5,1.5,1"
    rows[7] = HEADER.strip()  # files put together carry their headers along
    rows[9] += ",,9,9"
    rows[12] = f"{candles[12].open_time_ms},1,1,2,1,1"
    file = read(tmp_path, HEADER + "\n".join(rows) + "\n")
    expected = [candle for index, candle in enumerate(candles) if index not in (3, 7, 9, 12)]
    assert candles_of(file) == expected
    counts = {UNREADABLE_TIME: 2, TOO_MANY_CELLS: 1, "high or low does not enclose open and close": 1}
    assert file.rejected == counts


def test_repeated_rows_are_distinguished_from_contradicting_ones(tmp_path: Path) -> None:
    candles = random_walk(10)
    again = lines([candles[2]], lambda ms: ms)
    other = f"{candles[4].open_time_ms},100,101,99,100,7\n"
    file = read(tmp_path, HEADER + lines(candles, lambda ms: ms) + again + other)
    assert (file.repeated, file.contradicting) == (2, 1)
    assert candles_of(file)[4].volume == 7.0


@pytest.mark.parametrize("is_headed", [True, False])
def test_trades_become_candles(tmp_path: Path, is_headed: bool) -> None:
    generator = np.random.default_rng(5)
    times = START_MS + np.cumsum(generator.integers(0, 900, 2000))
    prices, amounts = 100.0 + generator.normal(0, 1, 2000), generator.uniform(0.1, 2, 2000)
    rows = [f"{t / 1000:.3f},{p},{a}" for t, p, a in zip(times, prices, amounts, strict=True)]
    rows[50] = rows[50].rsplit(",", 1)[0] + ",0"
    text = ("Timestamp,Price,Amount\n" if is_headed else "") + "\n".join(rows) + "\n"
    file = read(tmp_path, text, options=ReadOptions(interval=MINUTE))
    kept = np.delete(np.arange(2000), 50)
    whole = [MINUTE.open_time_ms(int(t)) for t in times[kept]]
    assert file.are_trades and file.rejected[TRADE_NUMBER] == 1
    assert set(file.columns.open_time_ms.tolist()) <= set(whole)
    assert len(file.columns) + file.rejected[CUT] == len(set(whole))
    second = kept[np.array(whole) == whole[0] + 60_000]
    expected = (prices[second[0]], prices[second].max(), prices[second].min(), prices[second[-1]])
    assert tuple(file.columns.values[:4, np.flatnonzero(file.columns.open_time_ms == whole[0] + 60_000)[0]]) == expected


def test_an_unreadable_trade_drops_its_candle(tmp_path: Path) -> None:
    rows = [f"{START_MS + 300 * i},{100 + i / 10},1.5" for i in range(1000)]
    rows[250] = f"{START_MS + 300 * 250},n/a,1.5"
    file = read(tmp_path, "time,price,amount\n" + "\n".join(rows) + "\n", options=ReadOptions(interval=MINUTE))
    assert file.columns.open_time_ms.tolist() == [START_MS + 60_000 * minute for minute in (0, 2, 3, 4)]
    assert file.rejected == {TRADE_NUMBER: 1, SPOILT: 1}


@pytest.mark.parametrize("is_newest_first", [True, False])
def test_gaps_in_trade_ids_drop_their_candles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_newest_first: bool
) -> None:
    monkeypatch.setattr(table, "CHUNK_ROWS", 130)
    rows = [f"{7000 + i},{START_MS + 300 * i},100.5,1.5" for i in range(1000)]
    kept = rows[:390] + rows[402:]  # the last of the second minute, the first of the third
    text = "\n".join(kept[::-1] if is_newest_first else kept)
    file = read(tmp_path, f"id,time,price,amount\n{text}\n", options=ReadOptions(interval=MINUTE))
    assert file.columns.open_time_ms.tolist() == [START_MS + 60_000 * minute for minute in (0, 3, 4)]
    assert file.rejected == {TORN: 2}
    sparse = "\n".join(f"{7000 + 3 * i},{START_MS + 300 * i},100.5,1.5" for i in range(1000))
    file = read(tmp_path, f"id,time,price,amount\n{sparse}\n", options=ReadOptions(interval=MINUTE))
    assert len(file.columns) == 5 and file.rejected == {}, "of an exchange that does not count by one"


def test_negative_amounts_are_sales(tmp_path: Path) -> None:
    rows = [f"{START_MS + 300 * i},{100 + i / 10},{-1.5 if i % 2 else 1.5}" for i in range(600)]
    file = read(tmp_path, "time,price,amount\n" + "\n".join(rows) + "\n", options=ReadOptions(interval=MINUTE))
    assert file.columns.values[4].tolist() == [300.0] * 3 and file.rejected == {}


def test_binances_trades_without_a_header(tmp_path: Path) -> None:
    plain = [f"{7000 + i},{100 + i / 10},1.5,150,{START_MS + 300 * i},True,True" for i in range(600)]
    grouped = [f"{7000 + i},{100 + i / 10},1.5,{i},{i},{START_MS + 300 * i},False,True" for i in range(600)]
    for rows in (plain, grouped):
        file = read(tmp_path, "\n".join([*rows, rows[5]]) + "\n", options=ReadOptions(interval=MINUTE))
        assert file.are_trades and len(file.columns) == 3 and file.repeated == 1
        assert file.columns.values[4].tolist() == [300.0, 300.0, 300.0]


def test_an_interval_finer_than_the_rows_is_accepted(tmp_path: Path) -> None:
    sparse = HEADER + lines(random_walk(20)[::2], lambda ms: ms)
    assert read(tmp_path, sparse, options=ReadOptions(interval=MINUTE)).interval == MINUTE


def test_a_symbol_column_is_reported(tmp_path: Path) -> None:
    rows = "".join(f"{line},BTCUSDT\n" for line in lines(random_walk(5), lambda ms: ms).splitlines())
    assert read(tmp_path, HEADER.strip() + ",Symbol\n" + rows).symbol == "BTCUSDT"


@pytest.mark.parametrize("is_strict", [True, False])
def test_several_markets_are_not_read_as_one(tmp_path: Path, is_strict: bool) -> None:
    """`evaluate`, `pretrain` and a replay learned the two as one market; import alone refused."""
    rows = lines(random_walk(6), lambda ms: ms).splitlines()
    text = "\n".join(
        [f"{HEADER.strip()},Symbol", *(f"{row},BTC" for row in rows[:3]), *(f"{row},ETH" for row in rows[3:])]
    )
    with pytest.raises(CandleFileError, match=r"candles.csv holds several markets \(BTC, ETH\)"):
        read(tmp_path, text, options=ReadOptions(is_strict=is_strict))


def test_an_unnamed_index_is_skipped(tmp_path: Path) -> None:
    candles = random_walk(20)
    numbered = "".join(f"{number},{line}\n" for number, line in enumerate(lines(candles, lambda ms: ms).splitlines()))
    assert candles_of(read(tmp_path, numbered)) == candles
    trades = "".join(f"{i},{START_MS + 300 * i},100.5,1.5\n" for i in range(400))
    assert len(read(tmp_path, trades, options=ReadOptions(interval=MINUTE)).columns) == 2
    first_trades = "".join(f"{i},100.5,1.5,150,{START_MS + 300 * i},True,True\n" for i in range(400))
    assert len(read(tmp_path, first_trades, options=ReadOptions(interval=MINUTE)).columns) == 2


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_an_index_of_times_in_an_arrow_file(tmp_path: Path, form: str) -> None:
    pytest.importorskip("pyarrow", reason="the extra [arrow] is not installed")
    candles = random_walk(20)
    frame = pd.DataFrame(
        [astuple(each)[:6] for each in candles], columns=["time", "open", "high", "low", "close", "volume"]
    )
    for index in ("time", ["volume", "time"]):
        path = tmp_path / f"candles.{form}"
        getattr(frame.set_index(index), f"to_{form}")(path)
        assert candles_of(read_candle_table(path)) == candles


def write_with_a_range(path: Path, rows: int, **index: object) -> None:
    """Candles whose index is in the metadata alone, as pandas 3.1 writes evenly spaced integers."""
    pa = pytest.importorskip("pyarrow", reason="the extra [arrow] is not installed")
    prices = pa.array(np.full(rows, 100.0))
    about = {"index_columns": [{"kind": "range", "name": "time"} | index], "columns": [], "column_indexes": []}
    table = pa.table({name: prices for name in ("open", "high", "low", "close", "volume")})
    table = table.replace_schema_metadata({"pandas": json.dumps(about)})
    if path.suffix == ".feather":
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    else:
        pytest.importorskip("pyarrow.parquet").write_table(table, path)


@pytest.mark.parametrize("form", ["parquet", "feather"])
@pytest.mark.parametrize("rows", [20, table.CHUNK_ROWS + 7])
def test_an_index_that_only_the_metadata_describes(tmp_path: Path, form: str, rows: int) -> None:
    path = tmp_path / f"candles.{form}"
    write_with_a_range(path, rows, start=START_MS, stop=START_MS + rows * 60_000, step=60_000)
    expected = (START_MS + 60_000 * np.arange(rows)).tolist()
    assert read_candle_table(path).columns.open_time_ms.tolist() == expected


@pytest.mark.parametrize("form", ["parquet", "feather"])
@pytest.mark.parametrize(
    "change",
    [
        {"stop": START_MS + 19 * 60_000},
        {"stop": START_MS + 21 * 60_000},
        {"stop": 10**30, "step": 1},
        {"step": 0},
        {"start": None},
        {"name": None},
        {"name": ["time"]},
        {"kind": "serialized"},
    ],
)
def test_metadata_that_does_not_fit_the_file_is_no_column(tmp_path: Path, form: str, change: dict[str, object]) -> None:
    path = tmp_path / f"candles.{form}"
    fitting = {"start": START_MS, "stop": START_MS + 20 * 60_000, "step": 60_000}
    write_with_a_range(path, 20, **(fitting | change))
    with pytest.raises(CandleFileError, match=r"no column for the time|not a complete"):
        read_candle_table(path)


def test_an_all_zero_volume_column_is_replaced_by_the_other(tmp_path: Path) -> None:
    rows = "".join(f"2020.01.02\t00:0{minute}:00\t1\t2\t0.5\t1.5\t10\t0\t3\n" for minute in range(5))
    head = "<DATE>\t<TIME>\t<OPEN>\t<HIGH>\t<LOW>\t<CLOSE>\t<TICKVOL>\t<VOL>\t<SPREAD>\n"
    options = ReadOptions(zone=UTC)
    assert [candle.volume for candle in candles_of(read(tmp_path, head + rows, options=options))] == [10.0] * 5
    none = rows.replace("\t10\t", "\t0\t")
    assert [candle.volume for candle in candles_of(read(tmp_path, head + none, options=options))] == [0.0] * 5


def test_common_column_names_and_abbreviated_numbers_are_read(tmp_path: Path) -> None:
    days = "".join(f'"01/{day}/2020","1,500.5","1,000","2,000","900","1.25K","0.1%"\n' for day in (13, 14, 15))
    file = read(tmp_path, '"Date","Price","Open","High","Low","Vol.","Change %"\n' + days)
    assert candles_of(file)[0] == Candle(1_578_873_600_000, 1000.0, 2000.0, 900.0, 1500.5, 1250.0)
    head = "timestamp,1. open,2. high,3. low,4. close,5. volume\n"
    assert candles_of(read(tmp_path, head + lines(random_walk(5), lambda ms: ms))) == random_walk(5)


@pytest.mark.parametrize("is_rounded", [True, False])
def test_times_too_coarse_for_the_candles_are_refused(tmp_path: Path, is_rounded: bool) -> None:
    several = [random_walk(40, seed=seed) for seed in (1, 2)]
    text = "".join(lines(each, lambda ms: f"{ms / 1000:.6E}" if is_rounded else ms) for each in several[is_rounded:])
    with pytest.raises(CandleFileError, match="have the time of another row"):
        read(tmp_path, HEADER + text)


@pytest.mark.needs_data
def test_real_outages_are_gaps(shared_data: Path) -> None:
    file = read_candle_table(shared_data / "binance" / "BTCUSDT_15m_2020_first9000.csv")
    times = file.columns.open_time_ms
    whole = int(times[-1] - times[0]) // file.interval.duration_ms + 1
    missing = candles_in(holes_between(times, file.interval), file.interval)
    assert missing == whole - len(times) and missing > 0


JUNK = [
    "",
    "nan",
    "inf",
    "1e400",
    "-5",
    '"',
    "\x00",
    "é",
    "9" * 26,
    "2020-13-45",
    "13:00 PM",
    "True",
    "-9223372036854775808",
]
MORE_JUNK = ["0001-01-01", "9999-12-31 00:00:00", "+25:99", "12/25/2020", "1,2", ";", " ", "2020-01-01 EST"]
HEADS = ["", HEADER, "Date,Time,Open,High,Low,Close,Vol\n", "price,time,amount\n", ",a,b\n", "open,open,open,time\n"]
good_rows = st.sampled_from(lines(random_walk(6), lambda ms: ms).splitlines())
bad_rows = st.lists(st.sampled_from([*JUNK, *MORE_JUNK, "100.5", "1606780800"]), min_size=1, max_size=9).map(",".join)


@given(st.sampled_from(HEADS), st.lists(st.one_of(good_rows, bad_rows), max_size=12), st.booleans(), st.booleans())
@example("", [",,,,,,1e400", ",,,,,,inf"], False, False)
@example("time,open,high,low,close,volume\n", ["0001-01-01"], False, False)  # pandas 3 reads it as a time
def test_any_file_gives_candles_or_an_explanation(
    tmp_path_factory: pytest.TempPathFactory, head: str, rows: list[str], is_named: bool, is_strict: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "anything.csv"
    path.write_text(head + "\n".join(rows), encoding="utf-8")
    try:
        file = read_candle_table(path, ReadOptions(interval=MINUTE if is_named else None, is_strict=is_strict))
    except CandleFileError as error:
        assert str(error).startswith(("anything.csv", "Trades")) and str(error).endswith((".", "1m", "ones."))
    else:
        assert len(file.columns) and np.isfinite(file.columns.values).all()
        assert (np.diff(file.columns.open_time_ms) > 0).all()
