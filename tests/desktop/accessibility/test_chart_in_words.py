"""What a screen reader announces for the chart and other painted widgets."""

from __future__ import annotations

import gc
import weakref

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from core.domain.candle_series import CandleSeries
from core.domain.clock import ManualClock
from desktop.chart import widget as chart_widget
from desktop.chart.widget import ChartWidget
from desktop.panels.gradients.bars import Bar, BarList
from desktop.ui import formatting
from desktop.ui.theme import Theme
from tests.desktop import scenario

_CONTROL = Qt.KeyboardModifier.ControlModifier


def described(widget: QWidget) -> str:
    return QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Description)


@pytest.fixture
def chart(qtbot: QtBot, theme: Theme) -> ChartWidget:
    made = ChartWidget(theme, ManualClock(0))
    qtbot.addWidget(made)
    made.resize(900, 500)
    made.show()
    return made


def filled(chart: ChartWidget) -> CandleSeries:
    candles = scenario.market()
    series = CandleSeries(scenario.MINUTE)
    series.extend(candles)
    chart.set_series(series, "BTC/USDT · 1m · Binance")
    chart.set_forecast(scenario.forecast(candles))
    chart.flush()
    return series


def test_an_empty_chart_says_so(chart: ChartWidget) -> None:
    assert described(chart) == "There are no candles yet."


def test_the_description_has_market_last_price_and_forecast(chart: ChartWidget) -> None:
    series = filled(chart)
    description = described(chart)
    assert "BTC/USDT · 1m · Binance" in description
    assert formatting.format_price(series[-1].close, chart.model.decimals()) in description
    ghost = chart.model.ghosts()[-1].ghost
    assert formatting.format_price(ghost.close, chart.model.decimals()) in description and "90 %" in description


def test_the_description_follows_the_chart(chart: ChartWidget) -> None:
    filled(chart)
    before = described(chart)
    chart.set_forecast(None)
    assert described(chart) != before and "No forecast" in described(chart)


def test_moving_by_keys_announces_each_candle(chart: ChartWidget, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks what is passed to Qt, which passes it to the platform."""
    series, announced = filled(chart), list[str]()
    monkeypatch.setattr(chart_widget, "announce", lambda _widget, text: announced.append(text))
    for _ in range(3):
        QTest.keyClick(chart, Qt.Key.Key_Left, _CONTROL)
    decimals = chart.model.decimals()
    for place, text in zip((-1, -2, -3), announced, strict=True):
        for price in (series[place].open, series[place].high, series[place].low, series[place].close):
            assert formatting.format_price(price, decimals) in text
    assert announced[-1] in described(chart)
    for _ in range(5):
        QTest.keyClick(chart, Qt.Key.Key_Right, _CONTROL)
    assert "forecast" in announced[-1]


def test_painted_bars_describe_their_numbers(qtbot: QtBot, theme: Theme) -> None:
    bars = BarList(theme, is_log=False)
    qtbot.addWidget(bars)
    bars.show_bars([Bar("head", 0.5, "0.50"), Bar("blocks.0", 0.25, "0.25")])
    assert described(bars) == "head: 0.50. blocks.0: 0.25."


def test_the_accessible_description_does_not_keep_a_chart_alive(qtbot: QtBot, theme: Theme) -> None:
    chart = ChartWidget(theme, ManualClock(0))
    filled(chart)
    assert described(chart)
    seen = weakref.ref(chart)
    chart.deleteLater()
    del chart
    qtbot.waitUntil(lambda: gc.collect() >= 0 and seen() is None)
