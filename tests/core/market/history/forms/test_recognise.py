"""Files of known forms: recognised, and read as their vendor means them, or refused with a sentence."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from core.market.history.candle_table import ReadOptions
from core.market.history.errors import CandleFileError
from core.market.history.forms.form import Stamp
from core.market.history.forms.recognise import FORMS
from core.market.history.read import read_candle_table
from tests.core.market.history.forms.exchange_layouts import EXCHANGE_LAYOUTS
from tests.core.market.history.forms.layouts import MINUTE, Layout, candles_of
from tests.core.market.history.forms.vendor_layouts import VENDOR_LAYOUTS

LAYOUTS = (*EXCHANGE_LAYOUTS, *VENDOR_LAYOUTS)
BY_FORM = {layout.form: layout for layout in reversed(LAYOUTS)}
EXACT = 1e-12

NO_CANDLES = {
    "coingecko-prices": ("btc-usd-max.csv", "snapped_at,price,market_cap,total_volume", "{day} 00:00:00 UTC,1.5,9,9"),
    "histdata-ticks": ("DAT_ASCII_EURUSD_T_202403.csv", "", "20240301 0000{n:02}123,1.5,1.6,0"),
    "lean-quotes": ("20180406_eurusd_minute_quote.csv", "", "{n}0000,1.5,1.6,1.4,1.5,9,1.5,1.6,1.4,1.5,9"),
    "truefx": ("EURUSD-2024-03.csv", "", "EUR/USD,20240301 00:00:{n:02}.123,1.5,1.6"),
}
"""Forms without candles and trades: a file's name, its header and a line."""


def test_every_form_has_a_file() -> None:
    shown = {layout.form for layout in LAYOUTS} | set(NO_CANDLES) | {"standard"}
    assert shown - {""} == set(FORMS)


@pytest.mark.parametrize("layout", LAYOUTS, ids=str)
def test_a_vendors_file_is_read_as_the_vendor_means_it(tmp_path: Path, layout: Layout) -> None:
    file = read_candle_table(layout.write(tmp_path), layout.options)
    assert (file.how.form.name if file.how.form is not None else "") == layout.form
    found, expected = candles_of(file), layout.expected()
    assert [each.open_time_ms for each in found] == [each.open_time_ms for each in expected]
    for name in ("open", "high", "low", "close", "volume"):
        numbers = [getattr(each, name) for each in expected]
        assert [getattr(each, name) for each in found] == pytest.approx(numbers, rel=EXACT), name
    assert not file.rejected and not file.repeated
    assert file.symbol == layout.symbol
    form = file.how.form
    assert not (file.how.is_zone_assumed and form is not None and (form.zone or form.clock_of))


def write_no_candles(folder: Path, form: str) -> Path:
    name, head, line = NO_CANDLES[form]
    shown = [line.format(n=number, day=f"2024-03-{number + 1:02}") for number in range(20)]
    (folder / name).write_text("\n".join([*([head] if head else []), *shown]) + "\n", encoding="utf-8")
    return folder / name


@pytest.mark.parametrize("form", NO_CANDLES)
def test_a_file_without_candles_is_refused_by_what_it_holds(tmp_path: Path, form: str) -> None:
    path = write_no_candles(tmp_path, form)
    with pytest.raises(CandleFileError) as refusal:
        read_candle_table(path, ReadOptions(interval=MINUTE))
    assert str(refusal.value) == f"{path.name} {FORMS[form].refusal}"


@pytest.mark.parametrize("form", NO_CANDLES)
def test_a_requested_form_without_candles_is_refused_as_well(tmp_path: Path, form: str) -> None:
    path = write_no_candles(tmp_path, form)
    with pytest.raises(CandleFileError) as refusal:
        read_candle_table(path, ReadOptions(interval=MINUTE, form=form))
    assert FORMS[form].refusal in str(refusal.value)


QUOTES_IN_COLUMNS = "Gmt time,Ask,Bid,AskVolume,BidVolume\n" + "01.03.2024 00:00:00.123,1.5,1.4,9,9\n" * 9
QUOTES_BELOW = (
    '[{"time": 1709251200, "volume": 9, "bid": {"o": 1, "h": 1, "l": 1, "c": 1},'
    ' "ask": {"o": 2, "h": 2, "l": 2, "c": 2}}]'
)


@pytest.mark.parametrize("text", [QUOTES_IN_COLUMNS, QUOTES_BELOW])
def test_quotes_of_no_known_form_are_refused_by_what_they_are(tmp_path: Path, text: str) -> None:
    (tmp_path / "quotes.txt").write_text(text, encoding="utf-8")
    with pytest.raises(CandleFileError, match="quotes"):
        read_candle_table(tmp_path / "quotes.txt", ReadOptions(interval=MINUTE))


@pytest.mark.parametrize("form", ["histdata-ascii", "ninjatrader"])
def test_one_layout_of_two_vendors_asks_which_and_the_answer_is_right(tmp_path: Path, form: str) -> None:
    path = BY_FORM[form].write(tmp_path, "EURUSD.csv")
    with pytest.raises(CandleFileError) as refusal:
        read_candle_table(path)
    assert "--form histdata-ascii" in str(refusal.value) and "--form ninjatrader" in str(refusal.value)
    assert candles_of(read_candle_table(path, ReadOptions(form=form))) == BY_FORM[form].expected()


@pytest.mark.parametrize("form", ["bybit-metatrader", "alphavantage", "coingecko", "histdata-mt"])
def test_a_form_that_its_name_tells_may_be_named_instead(tmp_path: Path, form: str) -> None:
    path = BY_FORM[form].write(tmp_path, "renamed.csv")
    file = read_candle_table(path, ReadOptions(form=form))
    assert candles_of(file) == BY_FORM[form].expected()
    assert file.how.form is FORMS[form] and not file.how.is_zone_assumed


@pytest.mark.parametrize("form", ["bybit-metatrader", "alphavantage"])
def test_without_its_name_the_report_says_that_the_zone_is_assumed(tmp_path: Path, form: str) -> None:
    file = read_candle_table(BY_FORM[form].write(tmp_path, "renamed.csv"))
    assert file.how.form is None and file.how.is_zone_assumed


@pytest.mark.parametrize("form", ["metatrader4", "metatrader5", "tradestation", "tradestation-short", "multicharts"])
def test_minutes_of_an_unknown_zone_ask_for_it(tmp_path: Path, form: str) -> None:
    layout = BY_FORM[form]
    path = layout.write(tmp_path)
    with pytest.raises(CandleFileError, match=r"which has the times of .* Name it with --time-zone\.$"):
        read_candle_table(path)
    assert len(read_candle_table(path, layout.options).columns) == len(layout.candles)


def test_minutes_of_an_unknown_stamp_ask_for_it_and_both_answers_are_followed(tmp_path: Path) -> None:
    layout, zone = BY_FORM["backtrader"], ZoneInfo("Europe/Berlin")
    path = layout.write(tmp_path)
    with pytest.raises(CandleFileError, match=r"Say which: --stamp start or --stamp end\.$"):
        read_candle_table(path, ReadOptions(zone=zone))
    opens = [each.open_time_ms for each in layout.expected()]
    for stamp, shift_ms in ((Stamp.END, 0), (Stamp.START, 300_000)):
        file = read_candle_table(path, ReadOptions(zone=zone, stamp=stamp))
        assert file.columns.open_time_ms.tolist() == [each + shift_ms for each in opens]


@pytest.mark.parametrize("form", ["kronos", "ninjatrader", "bitmex-candles"])
def test_a_requested_stamp_overrides_the_forms(tmp_path: Path, form: str) -> None:
    layout = BY_FORM[form]
    file = read_candle_table(layout.write(tmp_path), ReadOptions(stamp=Stamp.START))
    assert file.columns.open_time_ms.tolist() == [row.end_ms for row in layout.candles]


def test_a_requested_zone_overrides_the_forms(tmp_path: Path) -> None:
    layout = BY_FORM["pyupbit"]
    file = read_candle_table(layout.write(tmp_path), ReadOptions(zone=ZoneInfo("Etc/GMT-8"), zone_name="Etc/GMT-8"))
    assert file.columns.open_time_ms.tolist() == [row.ms + 3_600_000 for row in layout.candles]
    assert not file.how.is_zone_assumed and "Etc/GMT-8" in file.how.zone_sentence


def test_a_form_that_does_not_fit_is_refused_and_without_it_the_file_is_read(tmp_path: Path) -> None:
    layout = BY_FORM["bitmex-candles"]
    path = layout.write(tmp_path)
    with pytest.raises(CandleFileError, match=r"does not have the form kronos .* Leave out --form"):
        read_candle_table(path, ReadOptions(form="kronos"))
    assert candles_of(read_candle_table(path)) == layout.expected()


@pytest.mark.parametrize("form", ["okx-candles", "binance-stream-candles", "gate-candles"])
def test_the_candle_that_was_not_finished_is_left_out(tmp_path: Path, form: str) -> None:
    layout = BY_FORM[form]
    path = layout.write(tmp_path)
    *lines, last = path.read_text(encoding="utf-8").splitlines()
    head, _, tail = last.rpartition("True" if "True" in last else "true" if "true" in last else "1")
    path.write_text("\n".join([*lines, f"{head}{'0' if form == 'okx-candles' else 'false'}{tail}"]), encoding="utf-8")
    file = read_candle_table(path)
    assert candles_of(file) == layout.expected()[:-1]
    assert list(file.rejected.values()) == [1]
