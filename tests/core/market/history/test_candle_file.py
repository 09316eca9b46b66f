"""Real-world candle files, and the explanations for unusable ones."""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.candle import Candle
from core.domain.candle_faults import RejectionReason
from core.market.history.candle_file import CandleFile, read_candle_file
from core.market.history.errors import CandleFileError
from tests.support.candles import START_MS, random_walk

DATA = Path(__file__).parents[5] / "shared" / "data"
HEADER = "time,open,high,low,close,volume\n"
CELLS = "1,2,0.5,1.5,10"


def read(tmp_path: Path, text: str, name: str = "candles.csv") -> CandleFile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_candle_file(path)


def rows(candles: list[Candle], time: Callable[[int], object]) -> str:
    lines = (f"{time(c.open_time_ms)},{c.open},{c.high},{c.low},{c.close},{c.volume}" for c in candles)
    return "\n".join(lines) + "\n"


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)


def days(*times: str) -> str:
    return "".join(f"{time},{CELLS}\n" for time in times)


@pytest.mark.parametrize(
    "time",
    [
        lambda ms: ms,
        lambda ms: ms * 1000,
        lambda ms: ms * 1_000_000,
        lambda ms: ms // 1000,
        lambda ms: f"{ms / 1000:.1f}",
        lambda ms: moment(ms).isoformat(),
        lambda ms: moment(ms).strftime("%Y-%m-%d %H:%M:%S"),
        lambda ms: moment(ms).strftime("%Y-%m-%dT%H:%M:%SZ"),
        lambda ms: moment(ms + 7_200_000).strftime("%Y-%m-%d %H:%M:%S+02:00"),
        lambda ms: moment(ms).strftime("%d.%m.%Y %H:%M:%S.000"),
        lambda ms: moment(ms).strftime("%Y%m%d %H%M%S"),
    ],
)
@pytest.mark.parametrize("has_header", [True, False])
def test_every_form_of_time_gives_the_same_candles(
    tmp_path: Path, time: Callable[[int], object], has_header: bool
) -> None:
    candles = random_walk(30)
    file = read(tmp_path, (HEADER if has_header else "") + rows(candles, time))
    assert file.candles == tuple(candles)
    assert str(file.interval) == "1m"
    assert file.rejected == {}


@pytest.mark.parametrize(
    "name", ["Timestamp", "timestamps", "date", "TIME", "open_time", "open_time_ms", "Open Time", "Gmt time", ""]
)
def test_the_time_column_is_found_by_its_names(tmp_path: Path, name: str) -> None:
    candles = random_walk(5)
    text = f"{name},Open,HIGH,low,Close,Volume\n" + rows(candles, lambda ms: moment(ms).isoformat())
    assert read(tmp_path, text).candles == tuple(candles)


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_the_delimiter_is_recognised(tmp_path: Path, delimiter: str) -> None:
    candles = random_walk(5)
    text = (HEADER + rows(candles, lambda ms: ms)).replace(",", delimiter)
    assert read(tmp_path, text).candles == tuple(candles)


@given(st.permutations(range(12)), st.lists(st.integers(0, 11), max_size=6))
def test_order_and_repetition_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, order: list[int], repeated: list[int]
) -> None:
    candles = random_walk(12)
    shuffled = [candles[index] for index in [*order, *repeated]]
    text = HEADER + rows(shuffled, lambda ms: ms)
    assert read(tmp_path_factory.mktemp("order"), text).candles == tuple(candles)


def test_index_columns_are_skipped(tmp_path: Path) -> None:
    candles = random_walk(4)
    indexed = "".join(f"{n},{n},{line}\n" for n, line in enumerate(rows(candles, lambda ms: ms).splitlines()))
    assert read(tmp_path, ",Unnamed: 0," + HEADER + indexed).candles == tuple(candles)


def test_dates_with_slashes_follow_the_order_that_the_rows_prove(tmp_path: Path) -> None:
    expected = [datetime(2020, 1, day, tzinfo=UTC) for day in range(1, 29)]
    for layout in ("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y"):
        file = read(tmp_path, HEADER + days(*(day.strftime(layout) for day in expected)))
        assert [moment(candle.open_time_ms) for candle in file.candles] == expected


def test_daily_candles_stay_daily_across_a_clock_change(tmp_path: Path) -> None:
    times = [f"2023-03-{day:02} 00:00:00-0{5 if day < 13 else 4}:00" for day in range(1, 29)]
    file = read(tmp_path, HEADER + days(*times))
    assert len(file.candles) == 28
    assert str(file.interval) == "1d"


def test_the_grid_follows_the_file(tmp_path: Path) -> None:
    times = [START_MS + 1_800_000 + index * 3_600_000 for index in range(15)]
    file = read(tmp_path, HEADER + days(*map(str, times), str(times[-1] + 3_600_000 + 1000)))
    assert [candle.open_time_ms for candle in file.candles] == times
    assert file.rejected == {RejectionReason.GRID: 1}


def test_invalid_rows_are_rejected_counted_and_leave_a_gap(tmp_path: Path) -> None:
    candles = random_walk(26)
    lines = rows(candles, lambda ms: ms).splitlines()
    lines[2] = f"{candles[2].open_time_ms},1,2,oops,1.5,3"
    lines[4] = f"{candles[4].open_time_ms},100,90,95,100,3"
    file = read(tmp_path, HEADER + "\n".join(lines))
    assert file.candles == (candles[0], candles[1], candles[3], *candles[5:])
    assert file.rejected == {RejectionReason.NOT_FINITE: 1, RejectionReason.SHAPE: 1}


def test_the_fingerprint_depends_on_the_bytes(tmp_path: Path) -> None:
    text = HEADER + days("2020-01-01", "2020-01-02")
    assert read(tmp_path, text).fingerprint == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("\n \n", "empty"),
        ("hello\nworld\n", "no column for"),
        ("Dear Sir,\nbest regards,\n", "no column for open.* Its columns are named: Dear Sir. Looked for"),
        ("time,price,amount\n1600000000,2,3\n", "holds trades, not candles. Import it"),
        ("time,open,high,low\n1,2,3,4\n", "no column for close.*Looked for close"),
        ("moon,open,high,low,close\nx,2,3,1,2\n", "no column for the time.*Looked for"),
        (HEADER, "no number"),
        (HEADER + days("2020-01-01"), "fewer than two"),
        (HEADER + days("2020-01-01", "2020-01-01"), "fewer than two"),
        (HEADER + days("1600000020", "1600000080", "soon"), "line 4.*soon"),
        (HEADER + days("2020-01-01", "", "2020-01-03", "2020-01-04"), "line 3"),
        (days("2020-01-01", "2020-01-02", "soon"), "line 3.*soon"),
        (HEADER + days("inf", "1600000020", "1600000080"), "line 2"),
        (HEADER + days("2020-01-01") + "2020-01-02,1,2,3,4,5,6,7,8,9\n", "line 3"),
        (HEADER + days(*(f"2020-{month:02}-01" for month in range(1, 13))), "no regular interval"),
    ],
)
def test_unusable_content_is_explained(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(CandleFileError, match=f"(?s)candles.csv.*{said}"):
        read(tmp_path, text)


@pytest.mark.parametrize("name", ["book.xlsx", "book.XLS", "book.ods"])
def test_a_spreadsheet_is_recognised_and_refused(tmp_path: Path, name: str) -> None:
    """It held nine files to unpack."""
    (tmp_path / name).write_bytes(b"\xd0\xcf\x11\xe0" if name.endswith("XLS") else b"PK\x03\x04" + bytes(30))
    with pytest.raises(CandleFileError, match=r"is a spreadsheet\. Save its sheet as CSV"):
        read_candle_file(tmp_path / name)
    text = tmp_path / "exported.xls"
    text.write_text(HEADER + days("2020-01-01", "2020-01-02"))
    assert len(read_candle_file(text).candles) == 2, "some programs name a CSV so"


def test_missing_files_and_binaries_are_explained(tmp_path: Path) -> None:
    binary = tmp_path / "picture.csv"
    binary.write_bytes(b"\x89PNG\xff\xfe\x00")
    for path, said in ((tmp_path / "none.csv", "no file"), (binary, "not text")):
        with pytest.raises(CandleFileError, match=said):
            read_candle_file(path)


def test_arrow_files_are_read_or_the_extra_is_named(tmp_path: Path) -> None:
    path = tmp_path / "candles.feather"
    path.write_bytes(b"ARROW1\0\0 not a whole file")
    said = "complete Feather" if importlib.util.find_spec("pyarrow") else r"ghostcandle\[arrow\]"
    with pytest.raises(CandleFileError, match=said):
        read_candle_file(path)


@pytest.mark.needs_data
@pytest.mark.skipif(not DATA.exists(), reason="the real market data is not beside this checkout")
@pytest.mark.parametrize(
    ("name", "count", "interval", "first", "last", "first_close", "last_close"),
    [
        (
            "binance/BTCUSDT_15m_2020_first9000.csv",
            9000,
            "15m",
            "2020-01-01T00:00",
            "2020-04-04T02:30",
            7180.97,
            6738.11,
        ),
        ("binance/BTCUSDT_1m_20201201.csv", 1441, "1m", "2020-12-01T00:00", "2020-12-02T00:00", 19715.93, 18746.78),
        ("binance/BTCUSDT_5m.csv", 2881, "5m", "2020-07-01T00:00", "2020-07-11T00:00", 9117.23, 9289.43),
        ("stock/AAPL_1min.csv", 2083, "1m", "2023-05-24T21:16", "2023-05-26T23:59", 171.65, 175.5),
        ("stock/XSHG_5min_600977.csv", 2500, "5m", "2024-06-18T03:10", "2024-08-29T03:25", 11.27, 9.88),
    ],
)
def test_real_files_are_read(
    name: str, count: int, interval: str, first: str, last: str, first_close: float, last_close: float
) -> None:
    file = read_candle_file(DATA / name)
    ends = [moment(candle.open_time_ms).strftime("%Y-%m-%dT%H:%M") for candle in (file.candles[0], file.candles[-1])]
    assert ends == [first, last]
    assert (file.candles[0].close, file.candles[-1].close) == (first_close, last_close)
    assert (len(file.candles), str(file.interval), file.rejected) == (count, interval, {})
