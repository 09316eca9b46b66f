"""Key, setting and chart agree about the market's regime; reads happen between frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from core.domain.candle_series import CandleSeries
from core.storage.errors import StorageError
from core.storage.records import ConditionRows
from desktop.actions import ActionId
from desktop.chart.controllers.appearance import ChartAppearance
from desktop.chart.controllers.past import ChartPast
from desktop.chart.items.regimes import RegimeLayer
from tests.desktop import scenario
from tests.desktop.chart.conftest import settle
from tests.desktop.chart.past_support import conditions_at, issued, open_recorded
from tests.desktop.chart.support import random_series
from tests.desktop.conftest import Bench, MakeBench

SERIES = random_series(300)
RECORDED = 290


@pytest.fixture
def watched(qtbot: QtBot, make_chart_bench: MakeBench, tmp_path: Path) -> Iterator[Bench]:
    """A window over a run with regimes recorded for all candles but the newest."""
    bench = make_chart_bench()
    with open_recorded(tmp_path, SERIES, RECORDED) as (_, record):
        shown = CandleSeries(SERIES.interval)
        shown.extend(SERIES[index] for index in range(RECORDED))
        scenario.watch(bench.state, None)
        bench.chart.set_series(shown, "BTC/USDT · 1m")
        ChartAppearance(bench.shell, bench.chart)
        ChartPast(bench.shell, bench.chart, bench.state, bench.source, lambda _run: record.reader)
        bench.state.apply(scenario.ready(record.reader.run_id))
        bench.window.activateWindow()
        qtbot.waitUntil(bench.window.isActiveWindow)
        yield bench


ALT_SHIFT = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier


def layers(bench: Bench) -> list[object]:
    return [layer for layer in bench.chart._layers if isinstance(layer, RegimeLayer)]


def in_view(bench: Bench) -> int:
    chart = bench.chart
    assert chart.model.series is not None
    frame = chart.frame
    return len(chart.model.regimes.view(chart.model.series, frame.first, frame.stop, frame.group))


def press(bench: Bench) -> None:
    bench.chart.setFocus()
    QTest.keyClick(bench.window, Qt.Key.Key_R, ALT_SHIFT)
    settle(bench.chart)


def test_the_key_shades_the_chart_and_is_remembered(qtbot: QtBot, watched: Bench) -> None:
    action = watched.window.shell.actions[ActionId.REGIMES]
    assert not layers(watched) and not action.isChecked()
    press(watched)
    assert watched.window.shell.settings.current.chart.regimes and action.isChecked() and len(layers(watched)) == 1
    frame = watched.chart.frame
    qtbot.waitUntil(lambda: in_view(watched) == frame.stop - frame.first)
    press(watched)
    assert not watched.window.shell.settings.current.chart.regimes and not action.isChecked() and not layers(watched)


def test_a_new_candles_regime_comes_from_its_forecast(qtbot: QtBot, watched: Bench) -> None:
    press(watched)
    chart, series = watched.chart, watched.chart.model.series
    assert series is not None
    qtbot.waitUntil(lambda: in_view(watched) > 0)
    candle = SERIES[RECORDED]
    series.add(candle)
    watched.state.apply(issued(candle).event(watched.state.run_id or ""))
    settle(chart)
    found = chart.model.regimes.at(candle.open_time_ms)
    assert found is not None
    assert found.likeliest is conditions_at(candle.open_time_ms).likeliest


def test_switching_the_market_clears_the_regimes(qtbot: QtBot, watched: Bench) -> None:
    press(watched)
    qtbot.waitUntil(lambda: in_view(watched) > 0)
    scenario.watch(watched.state, None)
    settle(watched.chart)
    assert in_view(watched) == 0


def test_a_record_that_cannot_be_read_is_reported_and_not_retried(
    qtbot: QtBot, make_chart_bench: MakeBench, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        asked = 0

        def conditions(self, before_ms: int, most: int) -> ConditionRows:
            self.asked += 1
            raise StorageError("The disk is gone.")

    bench, broken = make_chart_bench(), Broken()
    scenario.watch(bench.state, None)
    bench.chart.set_series(SERIES, "BTC/USDT · 1m")
    ChartAppearance(bench.shell, bench.chart)
    ChartPast(bench.shell, bench.chart, bench.state, bench.source, lambda _run: broken)
    bench.state.apply(scenario.ready())
    bench.shell.actions[ActionId.REGIMES].trigger()
    settle(bench.chart)
    qtbot.waitUntil(lambda: broken.asked == 1)
    qtbot.waitUntil(lambda: bench.window.banner.shown is not None)
    settle(bench.chart)
    assert broken.asked == 1
