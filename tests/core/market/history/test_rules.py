"""General rules, for files of no known form: they are read right, or refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain.candle import DAY_MS, Candle, Interval
from core.market.history.candle_table import CandleTable, ReadOptions
from core.market.history.errors import CandleFileError
from core.market.history.forms.form import Stamp
from core.market.history.read import read_candle_table
from tests.core.market.history.forms.layouts import (
    DAY,
    MINUTE,
    START_MS,
    Row,
    Trade,
    candle,
    candles_of,
    rows,
    text_of,
    trades_of,
)
from tests.support.candles import random_walk

HEAD = "time,open,high,low,close,volume\n"
ROWS = rows()
ORDERS: dict[str, Callable[[Candle], str]] = {
    "ccxt": lambda c: f"{c.open_time_ms},{c.open},{c.high},{c.low},{c.close},{c.volume}",
    "kraken": lambda c: (
        f"{c.open_time_ms // 1000},{c.open},{c.high},{c.low},{c.close},{(c.high + c.low) / 2},{c.volume},{9}"
    ),
    "coinbase": lambda c: f"{c.open_time_ms // 1000},{c.low},{c.high},{c.open},{c.close},{c.volume}",
    "bitfinex": lambda c: f"{c.open_time_ms},{c.open},{c.close},{c.high},{c.low},{c.volume}",
    "kucoin": lambda c: f"{c.open_time_ms // 1000},{c.open},{c.close},{c.high},{c.low},{c.volume},{c.volume * c.close}",
    "gate": lambda c: (
        f"{c.open_time_ms // 1000},{c.volume * c.close},{c.close},{c.high},{c.low},{c.open},{c.volume},true"
    ),
    "gate dump": lambda c: f"{c.open_time_ms // 1000},{c.volume},{c.close},{c.high},{c.low},{c.open}",
}


def read(folder: Path, text: str, options: ReadOptions | None = None, name: str = "candles.csv") -> CandleTable:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_candle_table(path, options)


def csv(shown: list[Row], time: Callable[[Row], object] = lambda row: row.ms) -> str:
    return HEAD + "".join(f"{time(row)},{row.ohlcv}\n" for row in shown)


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=15)
@given(st.integers(0, 10**6), st.integers(12, 60), st.booleans())
def test_a_file_without_a_header_is_read_in_any_known_order(
    tmp_path_factory: pytest.TempPathFactory, order: str, seed: int, count: int, is_newest_first: bool
) -> None:
    candles = random_walk(count, seed)
    lines = [ORDERS[order](each) for each in (candles[::-1] if is_newest_first else candles)]
    assert candles_of(read(tmp_path_factory.getbasetemp(), "\n".join(lines) + "\n")) == candles


SHORT_OF = {"…59.999": 1, "…:59": 1_000}


@pytest.mark.parametrize("name", ["1m", "5m", "1h", "4h", "1d"])
@pytest.mark.parametrize("short", SHORT_OF)
@pytest.mark.parametrize("is_text", [True, False])
def test_an_end_is_moved_to_the_beginning_and_said_so(tmp_path: Path, name: str, short: str, is_text: bool) -> None:
    shown = rows(interval=Interval.parse(name))

    def time(row: Row) -> object:
        end_ms = row.end_ms - SHORT_OF[short]
        return f"{text_of(end_ms, '%Y-%m-%d %H:%M:%S')}.{end_ms % 1000:03}" if is_text else end_ms

    file = read(tmp_path, csv(shown, time))
    assert candles_of(file) == [candle(row) for row in shown]
    assert "the end of each candle" in file.how.stamp_sentence
    as_start = read(tmp_path, csv(shown, time), ReadOptions(stamp=Stamp.START))
    is_of_days = name == "1d"
    assert as_start.how.stamp_sentence == (
        "the date of each day" if is_of_days else "the beginning of each candle, as requested"
    )


@pytest.mark.parametrize("name", ["1m", "1h", "1d"])
def test_a_requested_end_is_moved_by_an_interval(tmp_path: Path, name: str) -> None:
    shown = rows(interval=Interval.parse(name))
    file = read(tmp_path, csv(shown, lambda row: row.end_ms), ReadOptions(stamp=Stamp.END))
    assert candles_of(file) == [candle(row) for row in shown]


def wall_times(hours: int, zone: str) -> list[datetime]:
    """Each `hours` of the zone's clock for two years; where clocks were put forward, the hour that was shown."""
    first, tz = datetime(2023, 1, 2), ZoneInfo(zone)  # noqa: DTZ001 - wall times
    shown = (first + timedelta(hours=hours * step) for step in range(24 * 730 // hours))
    moments = sorted({time.replace(tzinfo=tz).timestamp() for time in shown})
    return [datetime.fromtimestamp(moment, tz) for moment in moments]


@pytest.mark.parametrize("zone", ["America/New_York", "Europe/London", "Europe/Athens", "Australia/Sydney"])
@pytest.mark.parametrize("hours", [4, 12, 24])
@pytest.mark.parametrize("kind", ["moments", "offsets", "zone"])
def test_a_clock_with_summer_time_loses_no_row(tmp_path: Path, zone: str, hours: int, kind: str) -> None:
    times = wall_times(hours, zone)
    layout = {"moments": lambda t: round(t.timestamp()), "offsets": datetime.isoformat}.get(
        kind, lambda t: t.strftime("%Y-%m-%d %H:%M:%S")
    )
    text = HEAD + "".join(f"{layout(time)},1,2,0.5,{1 + n % 3 / 4},{n}\n" for n, time in enumerate(times))
    file = read(tmp_path, text, ReadOptions(zone=ZoneInfo(zone) if kind == "zone" else None))
    assert not file.rejected and file.interval == Interval(hours * 3_600_000)
    if kind == "offsets" and zone == "America/New_York" and hours != 24:
        assert file.how.zone_sentence.startswith("UTC-05:00 and UTC-04:00,")
    assert file.columns.values[4].tolist() == list(range(len(times)))
    if hours == 24 and (kind != "moments" or zone != "Australia/Sydney"):
        assert file.columns.open_time_ms.tolist() == [1_672_617_600_000 + DAY_MS * n for n in range(len(times))]
    elif hours != 24:
        assert file.columns.open_time_ms.tolist() == [round(1000 * time.timestamp()) for time in times]


@pytest.mark.parametrize(
    ("column", "is_assumed"), [("Gmt time", False), ("Etc/UTC", False), ("Local time", True), ("time", True)]
)
def test_a_column_may_name_utc(tmp_path: Path, column: str, is_assumed: bool) -> None:
    text = f"{column},open,high,low,close,volume\n" + "".join(f"2024-03-01 00:{n:02},1,2,0.5,1,1\n" for n in range(9))
    assert read(tmp_path, text).how.is_zone_assumed is is_assumed


def broken(shown: list[Row], count: int) -> str:
    """The first ones with a high below the low."""
    lines = csv(shown).splitlines()
    for place in range(1, count + 1):
        time, opened, _, *others = lines[place].split(",")
        lines[place] = ",".join([time, opened, "1.0", *others])
    return "\n".join(lines) + "\n"


def test_up_to_a_tenth_of_broken_rows_is_left_out_with_an_example(tmp_path: Path) -> None:
    file = read(tmp_path, broken(ROWS, 3))
    assert candles_of(file) == [candle(row) for row in ROWS[3:]]
    assert list(file.rejected.values()) == [3]
    assert list(file.examples.values()) == [f"line 2: {ROWS[0].ms},100.0,1.0,99.6,99.8,1.0"]


@pytest.mark.parametrize("count", [4, 15])
def test_more_broken_rows_refuse_the_file_unless_they_are_to_be_skipped(tmp_path: Path, count: int) -> None:
    advice = "--skip-invalid" if count == 4 else "header"
    with pytest.raises(CandleFileError, match=rf"{count} of 30 rows cannot be used.*{advice}"):
        read(tmp_path, broken(ROWS, count))
    file = read(tmp_path, broken(ROWS, count), ReadOptions(skips_invalid=True))
    assert candles_of(file) == [candle(row) for row in ROWS[count:]]


def test_json_in_an_unknown_order_is_to_be_saved_with_names(tmp_path: Path) -> None:
    text = json.dumps([[row.ms, row.low, row.close, row.open, row.high] for row in ROWS])
    with pytest.raises(CandleFileError, match="save it as CSV with a first line"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("head", "options", "stamp"),
    [
        ("open_time", ReadOptions(), "by its column's name"),
        ("time", ReadOptions(), "is assumed, as the file does not state it; if it is the end: --stamp end"),
        ("time", ReadOptions(stamp=Stamp.START), "as requested"),
        ("ticks", ReadOptions(), "as files of this form have it"),
    ],
)
def test_the_report_says_who_says_that_times_are_beginnings(
    tmp_path: Path, head: str, options: ReadOptions, stamp: str
) -> None:
    file = read(tmp_path, csv(ROWS).replace("time", head, 1), options)
    assert file.how.stamp_sentence.startswith("the beginning of each candle") and stamp in file.how.stamp_sentence


def test_the_report_names_the_unit_of_a_volume_only_if_it_is_known(tmp_path: Path) -> None:
    assert "it does not name one" in read(tmp_path, csv(ROWS)).how.volume_sentence
    with_turnover = "\n".join(
        ["time,open,high,low,close,volume,turnover", *(f"{row.ms},{row.ohlcv},{row.turnover}" for row in ROWS)]
    )
    said = read(tmp_path, with_turnover).how.volume_sentence
    assert "in the base currency" in said and "column turnover is its turnover" in said


def test_days_at_their_date_have_no_end_to_be_requested(tmp_path: Path) -> None:
    days = rows(interval=Interval.parse("1d"))
    file = read(tmp_path, csv(days, lambda row: row.text("%Y-%m-%d")), ReadOptions(stamp=Stamp.END))
    assert candles_of(file) == [candle(row) for row in days]
    assert file.how.stamp_sentence == "the date of each day, to which --stamp does not apply"


@pytest.mark.parametrize("missing", ["", "nan", "N/A", "-", "null"])
@pytest.mark.parametrize("count", [1, 20, 30])
def test_a_missing_volume_is_no_missing_candle(tmp_path: Path, missing: str, count: int) -> None:
    lines = csv(ROWS).splitlines()
    for place in range(1, count + 1):
        lines[place] = f"{lines[place].rpartition(',')[0]},{missing}"
    file = read(tmp_path, "\n".join(lines) + "\n")
    assert candles_of(file) == [candle(row, volume=0.0 if row.number < count else None) for row in ROWS]
    assert f"{count} row{'s have' if count > 1 else ' has'} none" in file.how.volume_sentence and not file.rejected


DAYS = rows(count=5_000, interval=DAY, start_ms=-252_460_800_000)
"""From 1962 on."""


@pytest.mark.parametrize("layout", ["%Y-%m-%d", "%m/%d/%Y", "%d.%m.%Y", "%b %d, %Y", "%Y%m%d"])
def test_days_before_1970_as_text(tmp_path: Path, layout: str) -> None:
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001 - of dates

    def date(row: Row) -> str:
        return f'"{(epoch + timedelta(milliseconds=row.ms)).strftime(layout)}"'

    assert candles_of(read(tmp_path, csv(DAYS, date))) == [candle(row) for row in DAYS]


def test_days_before_1970_as_negative_seconds(tmp_path: Path) -> None:
    older = [row for row in DAYS if row.ms < -DAY_MS]
    file = read(tmp_path, csv(older, lambda row: row.ms // 1000))
    assert candles_of(file) == [candle(row) for row in older]


@pytest.mark.parametrize("step_s", [7, 60_000, 5_000, 7_200 * 13])
def test_steps_that_are_no_length_of_candles_are_refused(tmp_path: Path, step_s: int) -> None:
    """`1000m` was stored of milliseconds since midnight."""
    with pytest.raises(CandleFileError, match="no length of candles"):
        read(tmp_path, csv(rows(interval=Interval(1000 * step_s))))


@pytest.mark.parametrize("step_ms", [1_000, 60_000, 3_600_000])
def test_times_of_day_are_no_moments_of_1970(tmp_path: Path, step_ms: int) -> None:
    for unit_ms in (1, 1_000):
        with pytest.raises(CandleFileError, match="time"):
            read(tmp_path, csv(rows(interval=Interval(step_ms), start_ms=0), lambda row, u=unit_ms: row.ms // u))


UNITS: dict[str, Callable[[int], str]] = {
    "s": lambda ns: f"{ns // 10**9}.{ns % 10**9:09}",
    "ms": lambda ns: str(ns // 10**6),
    "us": lambda ns: str(ns // 10**3),
    "ns": str,
    "text": lambda ns: f"{text_of(ns // 10**6, '%Y-%m-%d %H:%M:%S')}.{ns % 10**9:09}",
    "text of three digits": lambda ns: f"{text_of(ns // 10**6, '%Y-%m-%dT%H:%M:%S')}.{ns % 10**9 // 10**6:03}Z",
}
LAST_NS = {"s": 500_000, "us": 1_000, "ns": 1_000, "text": 1}
"""How short of the next candle a trade may be, and is still of this one; of other units a millisecond."""


@pytest.mark.parametrize("unit", UNITS)
def test_a_trade_is_of_the_candle_in_which_it_was(tmp_path: Path, unit: str) -> None:
    """Never rounded into the next one."""
    lines, expected = ["time,price,amount"], []
    for minute in range(6):
        start_ns = (START_MS + 60_000 * minute) * 10**6
        for place, ns in enumerate((start_ns, start_ns + 60 * 10**9 - LAST_NS.get(unit, 10**6))):
            lines.append(f"{UNITS[unit](ns)},{100 + minute + place / 2},1.5")
        opened = 100.0 + minute
        expected.append(Candle(START_MS + 60_000 * minute, opened, opened + 0.5, opened, opened + 0.5, 3.0))
    assert candles_of(read(tmp_path, "\n".join(lines) + "\n", ReadOptions(interval=MINUTE))) == expected


def numbered(trades: list[Trade]) -> list[str]:
    return [f"{trade.number},{trade.ms},{trade.price},{trade.amount}" for trade in trades]


@pytest.mark.parametrize("part", [7, 50, 100_000])
def test_a_trade_counts_twice_unless_all_of_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    """Numbers that begin again each day are no repetition, in whatever part of the file they come."""
    monkeypatch.setattr("core.market.history.table_file.CHUNK_ROWS", part)
    first, second = trades_of(ROWS), trades_of(rows(start_ms=START_MS + DAY_MS))
    lines = [*numbered(first), *numbered(second), *numbered(first[40:60]), *numbered(second[:3])]
    file = read(tmp_path, "\n".join(["trade_id,time,price,amount", *lines]) + "\n", ReadOptions(interval=MINUTE))
    assert file.repeated == 23
    assert candles_of(file) == [candle(row) for day in (ROWS, rows(start_ms=START_MS + DAY_MS)) for row in day]


def test_trades_without_numbers_may_be_equal(tmp_path: Path) -> None:
    lines = [f"{trade.ms},{trade.price},{trade.amount}" for trade in trades_of(ROWS)]
    file = read(
        tmp_path,
        "\n".join(["time,price,amount", *(line for each in lines for line in (each, each))]),
        ReadOptions(interval=MINUTE),
    )
    assert file.repeated == 0
    assert file.columns.values[4].tolist() == pytest.approx([2 * row.volume for row in ROWS])


@pytest.mark.parametrize("unit_ms", [1, 1_000])
def test_days_around_1970_as_numbers(tmp_path: Path, unit_ms: int) -> None:
    file = read(tmp_path, csv(DAYS, lambda row: row.ms // unit_ms))
    assert candles_of(file) == [candle(row) for row in DAYS]


quiet = st.lists(st.tuples(*[st.integers(1, 3)] * 4, st.integers(1, 9)), min_size=2, max_size=12)


@pytest.mark.parametrize("order", ORDERS)
@given(quiet)
def test_a_quiet_market_without_a_header_is_read_right_or_refused(
    tmp_path_factory: pytest.TempPathFactory, order: str, drawn: list[tuple[int, ...]]
) -> None:
    candles = [
        Candle(START_MS + 60_000 * n, o, max(o, c, h), min(o, c, low), c, v)
        for n, (o, h, low, c, v) in enumerate(drawn)
    ]
    candles = [Candle(c.open_time_ms, *map(float, (c.open, c.high, c.low, c.close, c.volume))) for c in candles]
    try:
        file = read(tmp_path_factory.getbasetemp(), "\n".join(map(ORDERS[order], candles)) + "\n")
    except CandleFileError:
        return
    assert candles_of(file) == candles


@pytest.mark.parametrize("order", ["coinbase", "bitfinex", "kucoin", "gate", "gate dump"])
def test_one_bad_row_leaves_the_order_of_columns(tmp_path: Path, order: str) -> None:
    candles = random_walk(60)
    bad = [ORDERS[order](each) for each in candles]
    bad[30] = ORDERS[order](Candle(candles[30].open_time_ms, 100.0, 90.0, 110.0, 100.0, 1.0))
    assert candles_of(read(tmp_path, "\n".join(bad) + "\n")) == candles[:30] + candles[31:]


@pytest.mark.parametrize(("zone", "hours"), [("Europe/Berlin", 2), ("Australia/Sydney", 2), ("America/Havana", 24)])
def test_texts_of_a_named_zone_lose_no_row_of_two_hours_and_longer(tmp_path: Path, zone: str, hours: int) -> None:
    """Only one such candle begins in the repeated hour: the first."""
    times = wall_times(hours, zone)
    text = HEAD + "".join(f"{time:%Y-%m-%d %H:%M:%S},1,2,0.5,1,{n}\n" for n, time in enumerate(times))
    file = read(tmp_path, text, ReadOptions(zone=ZoneInfo(zone)))
    assert file.columns.values[4].tolist() == list(range(len(times)))
