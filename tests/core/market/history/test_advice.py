"""The advice of a refusal is followed: nothing is read before, and the right candles after."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from core.domain.candle import Candle
from core.market.history.candle_table import ReadOptions
from core.market.history.errors import CandleFileError
from core.market.history.read import read_candle_table
from tests.core.market.history.forms.layouts import (
    DAY,
    HOUR,
    MINUTE,
    START_MS,
    Row,
    candle,
    candles_of,
    rows,
    trades_of,
)

ROWS, DAYS, HOURS = rows(), rows(interval=DAY), rows(interval=HOUR)
CANDLES = [candle(row) for row in ROWS]
HEAD = "time,open,high,low,close,volume"
NEW_YORK = "America/New_York"


def csv(shown: Sequence[Row] = ROWS, time: Callable[[Row], object] = lambda row: row.ms, head: str = HEAD) -> str:
    return "\n".join([*([head] if head else []), *(f"{time(row)},{row.ohlcv}" for row in shown)]) + "\n"


def dated(shown: Sequence[Row], layout: str, zone: str = "UTC") -> str:
    return csv(shown, lambda row: row.text(layout, zone))


def semicolons(number: str = "{:.2f}", volume: str = "{:.2f}") -> str:
    """German days, with a comma as the decimal sign where a number has a point."""
    lines = [
        ";".join(
            [
                row.text("%d.%m.%Y"),
                *(number.format(each).replace(".", ",") for each in (row.open, row.high, row.low, row.close)),
                volume.format(row.volume),
            ]
        )
        for row in DAYS
    ]
    return "\n".join(["Date;Open;High;Low;Close;Volume", *lines]) + "\n"


def trades(shown: Sequence[Row]) -> str:
    return "time,price,amount\n" + "".join(f"{each.ms},{each.price},{each.amount}\n" for each in trades_of(shown))


def without_prices(shown: Sequence[Row], *broken: int) -> str:
    """Some rows of which the high is below the low."""
    return csv(
        [
            Row(r.number, r.ms, r.end_ms, r.open, 1.0, r.low, r.close, r.volume) if r.number in broken else r
            for r in shown
        ]
    )


def twice(text: str) -> str:
    """With the rows of another market behind."""
    head, *lines = text.splitlines()
    return "\n".join([head, *lines, *(f"{line}9" for line in lines)]) + "\n"


def listed(names: Sequence[str]) -> str:
    return "\n".join(
        [
            "time,open,high,low,close,volume,symbol",
            *(f"{row.ms},{row.ohlcv},{name}" for row, name in zip(ROWS, names, strict=True)),
        ]
    )


def zipped(**members: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("__", "."), text)
    return packed.getvalue()


def tarred(text: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("candles.csv")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


def saved_array() -> tuple[bytes, bytes]:
    """As NumPy saves it, and as it saves text."""
    table = np.array([[row.ms, row.open, row.high, row.low, row.close, row.volume] for row in ROWS])
    packed, text = io.BytesIO(), io.BytesIO()
    np.save(packed, table)
    np.savetxt(text, table, delimiter=",")
    return packed.getvalue(), text.getvalue()


def database() -> bytes:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table candles (time, open, high, low, close, volume)")
        return connection.serialize()


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """refused: the file, and its name. says: a part of the refusal. instead: the file after it; None: the same, with
    other options."""

    says: str
    refused: str | bytes
    name: str = "candles.csv"
    instead: str | bytes | None = None
    instead_name: str = "candles.csv"
    before: ReadOptions = field(default_factory=ReadOptions)
    after: ReadOptions = field(default_factory=ReadOptions)
    expected: Sequence[Candle] = tuple(CANDLES)


_ARRAY, _ARRAY_TEXT = saved_array()
_UNNAMED = {"time": "moment", "open": "first", "high": "most", "low": "least", "close": "end"}
_IN_NEW_YORK = ReadOptions(zone=ZoneInfo(NEW_YORK))
ADVICE = {
    "trades name an interval": Advice(
        refused=trades(ROWS), says="Name with --interval", after=ReadOptions(interval=MINUTE)
    ),
    "trades in days": Advice(
        refused=trades(DAYS),
        before=ReadOptions(interval=type(DAY)(7 * DAY.duration_ms)),
        says="such as --interval 1d",
        after=ReadOptions(interval=DAY),
        expected=[candle(row) for row in DAYS],
    ),
    "trades are imported": Advice(
        refused=trades(ROWS),
        before=ReadOptions(interval=MINUTE, is_strict=True),
        says="Import it",
        after=ReadOptions(interval=MINUTE),
    ),
    "broken rows are skipped": Advice(
        refused=without_prices(ROWS, 3, 4, 9, 20),
        says="add --skip-invalid",
        after=ReadOptions(skips_invalid=True),
        expected=[each for number, each in enumerate(CANDLES) if number not in (3, 4, 9, 20)],
    ),
    "markets without a symbol": Advice(refused=twice(csv()), says="split it into a file for each", instead=csv()),
    "markets with symbols": Advice(
        refused=listed(["BTC"] * 20 + ["ETH"] * 10),
        says="Split it into a file for each",
        instead="\n".join(listed(["BTC"] * 30).splitlines()[:21]),
        expected=CANDLES[:20],
    ),
    "markets in the header": Advice(
        refused="Price,Close,Open,High,Low\nTicker,AAPL,MSFT,AAPL,AAPL\nDate,,,,\n"
        + "".join(f"{row.text('%Y-%m-%d')},{row.close},{row.open},{row.high},{row.low}\n" for row in DAYS),
        says="Save each of them on its own",
        instead="Price,Close,Open,High,Low\nTicker,AAPL,AAPL,AAPL,AAPL\nDate,,,,\n"
        + "".join(f"{row.text('%Y-%m-%d')},{row.close},{row.open},{row.high},{row.low}\n" for row in DAYS),
        expected=[candle(row, volume=0.0) for row in DAYS],
    ),
    "a zone in letters": Advice(
        refused=dated(ROWS, "%Y-%m-%d %H:%M:%S EST", NEW_YORK),
        says="--time-zone America/New_York",
        after=_IN_NEW_YORK,
    ),
    "an unknown zone": Advice(
        refused=dated(ROWS, "%Y-%m-%d %H:%M:%S Europe/Nowhere", "Europe/Berlin"),
        says="write the offset, as +02:00",
        instead=dated(ROWS, "%Y-%m-%d %H:%M:%S+01:00", "Europe/Berlin"),
    ),
    "a spreadsheet's dates as text": Advice(
        refused=csv(DAYS, lambda row: 45_352 + row.number),
        says="write 2020-01-31",
        instead=dated(DAYS, "%Y-%m-%d"),
        expected=[candle(row) for row in DAYS],
    ),
    "a spreadsheet's dates as milliseconds": Advice(
        refused=csv(DAYS, lambda row: 45_352 + row.number),
        says="milliseconds since 1970",
        instead=csv(DAYS),
        expected=[candle(row) for row in DAYS],
    ),
    "days or months": Advice(
        refused=dated(DAYS[:12], "%d/%m/%Y"),
        says="write 2020-01-31 instead",
        instead=dated(DAYS[:12], "%Y-%m-%d"),
        expected=[candle(row) for row in DAYS[:12]],
    ),
    "days and months": Advice(
        refused=csv(DAYS, lambda row: row.text("%d/%m/%Y" if row.number % 2 else "%m/%d/%Y")),
        says="write 2020-01-31 instead",
        instead=dated(DAYS, "%Y-%m-%d"),
        expected=[candle(row) for row in DAYS],
    ),
    "times of day": Advice(
        refused=csv(HOURS, lambda row: 100_800 + 3_600 * row.number),
        says="add the date",
        instead=dated(HOURS, "%Y-%m-%d %H:%M"),
        expected=[candle(row) for row in HOURS],
    ),
    "another interval": Advice(
        refused=csv(),
        before=ReadOptions(interval=HOUR),
        says="--interval 1m",
        after=ReadOptions(interval=MINUTE),
    ),
    "a name that has the day": Advice(
        refused=csv(ROWS, lambda row: row.ms - START_MS, head=""),
        before=ReadOptions(form="lean-crypto"),
        says="YYYYMMDD_symbol_minute_trade.csv. Restore that name",
        instead=csv(ROWS, lambda row: row.ms - START_MS, head=""),
        instead_name="20240301_btcusd_minute_trade.csv",
    ),
    "another encoding": Advice(
        refused=csv().replace("volume", "volume (Stück)").encode("latin-1"),
        says="save it as CSV in UTF-8",
        instead=csv().replace("volume", "volume (Stück)"),
    ),
    "a column without a name": Advice(
        refused=csv(ROWS, lambda row: f"{row.ms},{row.open}"),
        says="Give each column a name",
        instead=csv(ROWS, lambda row: f"{row.ms},{row.open}", head="time,settled,open,high,low,close,volume"),
    ),
    "two decimal signs": Advice(
        refused=semicolons(volume="{:.1f}"),
        says="Write all of its numbers in one way",
        instead=semicolons().replace(",", "."),
        expected=[candle(row) for row in DAYS],
    ),
    "thousands without points": Advice(
        refused=semicolons(number="{:.0f}.500", volume="{:.0f}").replace(",", "."),
        says="Write numbers without points between thousands",
        instead=semicolons(number="{:.0f}500", volume="{:.0f}"),
        expected=[
            Candle(
                r.ms,
                *(1000.0 * float(f"{p:.0f}") + 500 for p in (r.open, r.high, r.low, r.close)),
                float(f"{r.volume:.0f}"),
            )
            for r in DAYS
        ],
    ),
    "another number of decimals": Advice(
        refused=semicolons(number="{:.0f}.500", volume="{:.0f}").replace(",", "."),
        says="with more or fewer decimals",
        instead=semicolons(number="{:.0f}.5", volume="{:.0f}").replace(",", "."),
        expected=[
            Candle(r.ms, *(float(f"{p:.0f}") + 0.5 for p in (r.open, r.high, r.low, r.close)), float(f"{r.volume:.0f}"))
            for r in DAYS
        ],
    ),
    "a spreadsheet": Advice(
        refused=zipped(**{"[Content_Types]__xml": "<Types/>", "xl/worksheets/sheet1__xml": "<sheet/>"}),
        name="candles.xlsx",
        says="Save its sheet as CSV",
        instead=csv(),
    ),
    "an old spreadsheet": Advice(refused=b"\xd0\xcf\x11\xe0" + bytes(512), says="Save its sheet as CSV", instead=csv()),
    "an array of NumPy": Advice(
        refused=_ARRAY, name="candles.npy", says="numpy.savetxt, with delimiter=','", instead=_ARRAY_TEXT
    ),
    "a database": Advice(refused=database(), says="Export the table of candles as CSV", instead=csv()),
    "an HDF5 file": Advice(refused=b"\x89HDF\r\n\x1a\n" + bytes(512), says="as CSV or Parquet", instead=csv()),
    "a pickle": Advice(refused=b"\x80\x04\x95" + bytes(64), says="Save its table as CSV", instead=csv()),
    "several files": Advice(
        refused=zipped(a__csv=csv(), b__csv=csv()), name="two.zip", says="holds 2 files. Unpack it", instead=csv()
    ),
    "a tar": Advice(refused=tarred(csv()), name="candles.tar", says="Unpack it", instead=csv()),
    "a packed tar": Advice(refused=gzip.compress(tarred(csv())), name="c.tar.gz", says="Unpack it", instead=csv()),
    "packed by xz": Advice(refused=lzma.compress(csv().encode()), name="c.csv.xz", says="Unpack it", instead=csv()),
    "packed by bzip2": Advice(refused=bz2.compress(csv().encode()), name="c.csv.bz2", says="Unpack it", instead=csv()),
    "cut JSON": Advice(
        refused=json.dumps([[row.ms, row.open, row.high, row.low, row.close, row.volume] for row in ROWS])[:-9],
        name="candles.json",
        says="convert it to CSV",
        instead=csv(),
    ),
    **{
        f"JSON without rows, as {kind}": Advice(refused=json.dumps([]), name="candles.json", says=kind, instead=shown)
        for kind, shown in {
            "arrays such as": json.dumps(
                [[row.ms, row.open, row.high, row.low, row.close, row.volume] for row in ROWS]
            ),
            "objects with those names": json.dumps(
                [dict(zip(HEAD.split(","), (row.ms, *map(float, row.ohlcv.split(","))), strict=True)) for row in ROWS]
            ),
            "each of them as an array": json.dumps(
                {name: [getattr(row, "ms" if name == "time" else name) for row in ROWS] for name in HEAD.split(",")}
            ),
        }.items()
    },
    **{
        f"a {name} of another name": Advice(
            refused=csv(head=HEAD.replace(name, other)), says=f"{other}, " if name == "time" else other, instead=csv()
        )
        for name, other in _UNNAMED.items()
    },
}


@pytest.mark.parametrize("advice", ADVICE.values(), ids=ADVICE)
def test_what_a_refusal_advises_leads_to_the_right_candles(tmp_path: Path, advice: Advice) -> None:
    path = _written(tmp_path / advice.name, advice.refused)
    with pytest.raises(CandleFileError) as refusal:
        read_candle_table(path, advice.before)
    assert advice.says in str(refusal.value)
    if advice.instead is not None:
        path.unlink()
        path = _written(tmp_path / advice.instead_name, advice.instead)
    assert candles_of(read_candle_table(path, advice.after)) == list(advice.expected)


def test_a_folder_holds_the_file_to_be_chosen(tmp_path: Path) -> None:
    _written(tmp_path / "candles.csv", csv())
    with pytest.raises(CandleFileError, match="choose a candle file in it"):
        read_candle_table(tmp_path)
    assert candles_of(read_candle_table(tmp_path / "candles.csv")) == CANDLES


def test_columns_of_one_name_are_renamed(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra [arrow] is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = [
        pa.array([getattr(row, name) for row in ROWS]) for name in ("ms", "open", "high", "low", "close", "close")
    ]
    path = tmp_path / "candles.parquet"
    parquet.write_table(pa.table(columns, names=["time", "open", "high", "low", "close", "close"]), path)
    with pytest.raises(CandleFileError, match="Rename or remove all but one"):
        read_candle_table(path)
    parquet.write_table(pa.table(columns, names=["time", "open", "high", "low", "close", "other"]), path)
    assert candles_of(read_candle_table(path)) == [candle(row, volume=0.0) for row in ROWS]


def test_prices_in_bytes_are_exported_as_numbers(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="the extra [arrow] is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    prices = ("open", "high", "low", "close")
    path = tmp_path / "candles.parquet"
    packed = {name: pa.array([bytes(16)] * len(ROWS), pa.binary(16)) for name in prices}
    parquet.write_table(pa.table({"ts_event": pa.array([row.ms for row in ROWS]), **packed}), path)
    with pytest.raises(CandleFileError, match="Export them from there as numbers, to CSV or Parquet"):
        read_candle_table(path)
    numbers = {name: pa.array([getattr(row, name) for row in ROWS]) for name in prices}
    parquet.write_table(pa.table({"ts_event": pa.array([row.ms for row in ROWS]), **numbers}), path)
    assert candles_of(read_candle_table(path)) == [candle(row, volume=0.0) for row in ROWS]


def _written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path
