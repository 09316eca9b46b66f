"""Comparison with another stored market: chosen, read in the background, updated, removed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Interval, Market
from core.settings.tree import Settings
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from desktop.actions import ActionId
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.chart.controllers.candles import ChartCandles
from desktop.chart.controllers.comparison import ChartComparison
from desktop.dialogs.compared_market import ComparedMarketDialog
from desktop.services import candle_loader
from desktop.services.candle_loader import HistoryLoading
from desktop.state.database import WindowDatabase
from tests.desktop.chart.support import random_series
from tests.desktop.conftest import Bench, MakeBench

OWN, ETH, SOL = (Market("binance", f"{name}/USDT", Interval.parse("1m")) for name in ("BTC", "ETH", "SOL"))
COARSE = Market("kraken", "ETH/USDT", Interval.parse("5m"))
SIMULATED = Market("simulated", "SIM/USD", Interval.parse("1m"))


class Shown:
    """A window over a real database with five markets."""

    def __init__(self, bench: Bench, folder: Path) -> None:
        data = DataFolder(folder / "data")
        data.ensure()
        self.database = WindowDatabase(data)
        self.database.open()
        self.sources = {}
        for seed, market in enumerate((OWN, ETH, SOL, COARSE, SIMULATED), start=1):
            source = list(random_series(300, seed=seed))
            step = market.interval.duration_ms
            source = [each for each in source if each.open_time_ms % step == 0]
            self.sources[market] = source
            self.database.candles.save(market, source)
        self.bench, self.chart = bench, bench.chart
        ChartAppearance(bench.shell, bench.chart)
        histories = [HistoryLoading(data.database, bench.window) for _ in range(2)]
        self.candles = ChartCandles(bench.shell, bench.chart, self.database, histories[0])
        self.comparison = ChartComparison(bench.shell, bench.chart, self.database, histories[1])
        self.show(OWN)

    def show(self, market: Market) -> None:
        self.candles.show_market(market)
        self.comparison.show_market(market)
        self.chart.flush()

    def trigger(self, action_id: ActionId) -> None:
        self.bench.shell.actions[action_id].trigger()

    def closes(self) -> list[float] | None:
        """The other market's candles on the chart."""
        shown = self.comparison.layer.shown
        return None if shown is None or shown.series is None else shown.series.close.tolist()

    def readout(self) -> str:
        self.chart.flush()
        return " ".join(span.text for row in self.chart.overlay.readout.rows for span in row)

    def choose(self, qtbot: QtBot, words: str) -> None:
        """By action and keyboard, like a user."""
        self.trigger(ActionId.COMPARE)
        dialog = self.bench.window.findChildren(ComparedMarketDialog)[-1]
        (item,) = dialog.list.findItems(words, Qt.MatchFlag.MatchStartsWith)
        dialog.list.setCurrentItem(item)
        QTest.keyClick(dialog.list, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: not self.comparison.history.is_loading, timeout=60_000)


@pytest.fixture
def shown(make_chart_bench: MakeBench, tmp_path: Path) -> Iterator[Shown]:
    made = Shown(make_chart_bench(), tmp_path)
    yield made
    made.comparison.history.cancel()
    assert made.comparison.history.wait()
    made.database.close()


def test_choosing_a_market_compares_in_percent_and_again_resets(shown: Shown, qtbot: QtBot) -> None:
    stop = shown.bench.shell.actions[ActionId.COMPARE_STOP]
    shown.trigger(ActionId.SCALE_LOG)
    assert not stop.isEnabled()
    shown.choose(qtbot, "ETH/USDT")
    assert shown.closes() == [each.close for each in shown.sources[ETH]]
    assert shown.chart.style_shown.scale is ScaleKind.PERCENT and stop.isEnabled()
    first = shown.chart.frame.first
    closes = [each.close for each in shown.sources[ETH]]
    wanted = (closes[-1] / closes[first] - 1.0) * 100.0
    assert f"ETH/USDT {wanted:+.2f} %".replace("-", "−") in shown.readout()
    shown.choose(qtbot, "ETH/USDT")
    assert shown.closes() is None or "ETH/USDT" not in shown.readout()
    assert shown.chart.style_shown.scale is ScaleKind.LOG and not stop.isEnabled()
    assert "ETH/USDT" not in shown.readout()


def test_another_market_replaces_it_and_the_former_scale_is_kept(shown: Shown, qtbot: QtBot) -> None:
    shown.choose(qtbot, "ETH/USDT")
    shown.choose(qtbot, "SOL/USDT")
    assert shown.closes() == [each.close for each in shown.sources[SOL]]
    shown.trigger(ActionId.COMPARE_STOP)
    assert shown.chart.style_shown.scale is ScaleKind.LINEAR and "SOL/USDT" not in shown.readout()


def test_a_scale_chosen_meanwhile_is_kept(shown: Shown, qtbot: QtBot) -> None:
    shown.choose(qtbot, "ETH/USDT")
    shown.trigger(ActionId.SCALE_LOG)
    shown.trigger(ActionId.COMPARE_STOP)
    assert shown.chart.style_shown.scale is ScaleKind.LOG


def test_other_stored_compatible_markets_are_offered(shown: Shown) -> None:
    def offered() -> list[str]:
        dialog = shown.comparison.open()
        assert dialog is not None
        texts = [dialog.list.item(row).text().split(" on ")[0] for row in range(dialog.list.count())]
        dialog.reject()
        return texts

    assert offered() == ["ETH/USDT · 1m", "SOL/USDT · 1m", "SIM/USD · 1m, simulated"]
    shown.trigger(ActionId.INTERVAL_5M)
    assert offered() == ["ETH/USDT · 1m", "SOL/USDT · 1m", "ETH/USDT · 5m", "SIM/USD · 1m, simulated"]


def test_it_follows_the_charts_interval_and_market(shown: Shown, qtbot: QtBot) -> None:
    shown.choose(qtbot, "ETH/USDT")
    shown.trigger(ActionId.INTERVAL_5M)
    fives = shown.closes()
    wanted: dict[int, float] = {}
    for each in shown.sources[ETH]:
        wanted[each.open_time_ms // 300_000] = each.close
    assert fives == list(wanted.values())
    shown.trigger(ActionId.INTERVAL_MARKET)
    shown.show(SOL)
    assert shown.closes() == [each.close for each in shown.sources[ETH]] and "ETH/USDT" in shown.readout()
    shown.trigger(ActionId.INTERVAL_15M)
    shown.show(COARSE)
    assert "ETH/USDT (Binance)" in shown.readout()


def test_candles_too_coarse_for_the_chart_are_reported_not_drawn(shown: Shown, qtbot: QtBot) -> None:
    shown.trigger(ActionId.INTERVAL_5M)
    shown.choose(qtbot, "ETH/USDT · 5m")
    assert "ETH/USDT (Kraken)" in shown.readout() and len(shown.closes() or ()) == len(shown.sources[COARSE])
    shown.trigger(ActionId.INTERVAL_MARKET)
    assert shown.closes() is None and "nothing stored can be shown as 1m" in shown.readout()


def test_the_choice_is_stored_and_read_when_a_market_is_shown(
    make_chart_bench: MakeBench, tmp_path: Path, qtbot: QtBot
) -> None:
    settings = Settings()
    kept = replace(settings, chart=replace(settings.chart, compare=str(ETH), scale="percent"))
    shown = Shown(make_chart_bench(kept), tmp_path)
    qtbot.waitUntil(lambda: shown.closes() is not None, timeout=60_000)
    assert "ETH/USDT" in shown.readout()
    assert shown.comparison.history.wait()
    shown.database.close()


def test_later_candles_are_read_on_notification(shown: Shown, qtbot: QtBot) -> None:
    shown.choose(qtbot, "ETH/USDT")
    newest = shown.sources[ETH][-1]
    later = Candle(newest.open_time_ms + 60_000, 5.0, 5.0, 5.0, 5.0, 1.0)
    shown.database.candles.save(ETH, [later])
    shown.comparison.reload(ETH)
    qtbot.waitUntil(lambda: (shown.closes() or [0.0])[-1] == 5.0, timeout=60_000)


def later_candle(shown: Shown, market: Market, close: float) -> Candle:
    newest = shown.sources[market][-1]
    return Candle(newest.open_time_ms + market.interval.duration_ms, close, close, close, close, 1.0)


@pytest.mark.parametrize("action", [ActionId.INTERVAL_MARKET, ActionId.INTERVAL_5M])
def test_candles_stored_since_appear_when_a_chart_candle_closes(shown: Shown, qtbot: QtBot, action: ActionId) -> None:
    shown.choose(qtbot, "ETH/USDT")
    shown.trigger(action)
    before = shown.closes()
    assert before
    start = shown.sources[ETH][-1].open_time_ms // 300_000 * 300_000 + 300_000
    later = [Candle(start + step * 60_000, 5.0, 5.0, 5.0, 5.0, 1.0) for step in range(10)]
    shown.database.candles.save(ETH, later)
    assert shown.closes() == before
    shown.comparison.read_on()
    qtbot.waitUntil(lambda: (shown.closes() or [0.0])[-1] == 5.0, timeout=60_000)
    closes = shown.closes()
    assert closes and closes[: len(before)] == before and len(closes) > len(before)
    shown.comparison.read_on()  # no new candles
    qtbot.waitUntil(lambda: not shown.comparison.history.is_loading, timeout=60_000)
    assert shown.closes() == closes


def test_a_failed_read_is_reported_once_and_retried_with_the_next_candle(
    shown: Shown, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_given: object, **_options: object) -> None:
        raise StorageError("The disk did not answer.")

    def read_on() -> str:
        banner.dismiss()
        shown.comparison.read_on()
        qtbot.waitUntil(lambda: not shown.comparison.history.is_loading, timeout=60_000)
        return "" if banner.shown is None else banner.shown.text

    banner = shown.bench.window.banner
    with monkeypatch.context() as broken:
        broken.setattr(candle_loader, "open_database", fails)
        shown.choose(qtbot, "ETH/USDT")
        assert banner.text.text() == "ETH/USDT 1m (binance) cannot be compared. The disk did not answer."
        assert "could not be read" in shown.readout() and read_on() == ""
    assert read_on() == "" and shown.closes()
    with monkeypatch.context() as broken:
        broken.setattr(candle_loader, "open_database", fails)
        assert read_on().startswith("Newer candles of ETH/USDT 1m (binance) cannot be read.")
        assert read_on() == "" and shown.closes()
    assert "could not be read" not in shown.readout()


def test_the_readout_names_the_end_of_a_market_until_new_candles_arrive(shown: Shown, qtbot: QtBot) -> None:
    shown.choose(qtbot, "ETH/USDT")
    own = later_candle(shown, OWN, shown.sources[OWN][-1].close)
    shown.database.candles.save(OWN, [own])
    shown.candles.add([own])
    assert "stored until" in shown.readout()
    shown.database.candles.save(ETH, [later_candle(shown, ETH, shown.sources[ETH][-1].close)])
    shown.comparison.read_on()
    qtbot.waitUntil(lambda: "stored until" not in shown.readout(), timeout=60_000)
    assert "ETH/USDT" in shown.readout()


def test_a_market_watched_meanwhile_is_compared_with_its_new_candles(shown: Shown, qtbot: QtBot) -> None:
    shown.choose(qtbot, "ETH/USDT")
    shown.show(ETH)
    assert shown.readout().count("ETH/USDT") == 1, "no market is compared with itself"
    later = later_candle(shown, ETH, 5.0)
    corrected = replace(shown.sources[ETH][-2], low=4.0, close=4.0)
    shown.database.candles.save(ETH, [corrected, later])
    shown.candles.add([corrected, later])
    shown.show(OWN)
    qtbot.waitUntil(lambda: (shown.closes() or [0.0])[-1] == 5.0, timeout=60_000)
    assert (shown.closes() or [])[-3] == 4.0


@pytest.mark.parametrize("text", ["ETH/USDT", "ETH/USDT 1m", "1m (binance)", "ETH/USDT 0m (binance)"])
def test_a_setting_that_names_no_market_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"market|interval"):
        replace(Settings().chart, compare=text)


class Runs(QObject):
    refused = Signal(str)


@pytest.mark.parametrize("is_refused", [False, True])
def test_the_list_waits_for_the_market_being_opened(shown: Shown, *, is_refused: bool) -> None:
    window, runs = shown.bench.window, Runs()
    shown.comparison.wait_for(lambda: True, runs.refused)
    shown.show(replace(OWN, interval=Interval.parse("1s")))
    shown.trigger(ActionId.COMPARE)
    assert window.findChildren(ComparedMarketDialog) == []
    if is_refused:
        runs.refused.emit("No such market.")
    shown.show(OWN)
    dialogs = window.findChildren(ComparedMarketDialog)
    assert [dialog.list.count() > 0 for dialog in dialogs] == ([] if is_refused else [True])
    for dialog in dialogs:
        dialog.reject()


def test_a_market_of_another_time_is_reported_not_drawn(shown: Shown, qtbot: QtBot) -> None:
    """Regression: accepted without a word, and the scale turned to percent."""
    year_ms = 365 * 86_400_000
    old = Market("binance", "OLD/USDT", Interval.parse("1m"))
    candles = [replace(each, open_time_ms=each.open_time_ms - 2 * year_ms) for each in shown.sources[ETH]]
    shown.database.candles.save(old, candles)
    shown.choose(qtbot, "OLD/USDT")
    assert shown.closes() is None and "no candles at these times" in shown.readout()
    notice = shown.bench.window.banner.shown
    assert notice is not None and notice.text.startswith("OLD/USDT has candles from") and "BTC/USDT" in notice.text
