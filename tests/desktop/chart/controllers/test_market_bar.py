"""The bar above the chart: its text, the choosers that its buttons open, and that nothing is cut or covered."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolButton
from pytestqt.qtbot import QtBot

from core.domain.candle import Interval, Market
from desktop.actions import ActionId
from desktop.chart.controllers.market_bar import MarketBar
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill

MARKET = Market("binance", "BTC/USDT", scenario.MINUTE)


def barred(bench: Bench) -> MarketBar:
    bar = MarketBar(bench.shell.actions, bench.chart, bench.theme)
    bar.show()
    bar.show_market(MARKET)
    bar.show_interval(MARKET.interval)
    fill(bench)
    QApplication.processEvents()
    return bar


def within(bar: MarketBar, bench: Bench) -> QRect:
    """The bar, through the chart."""
    return QRect(bench.chart.mapFromGlobal(bar.mapToGlobal(QPoint(0, 0))), bar.size())


@pytest.fixture
def bench(make_chart_bench: MakeBench) -> Bench:
    return make_chart_bench()


@pytest.mark.parametrize("size", [(700, 480), (1280, 720), (1600, 900)])
def test_it_lies_over_the_chart_and_covers_nothing_of_it(make_bench: MakeBench, size: tuple[int, int]) -> None:
    bench = make_bench(size=size)
    bar = barred(bench)
    assert within(bar, bench).bottom() == -1 and within(bar, bench).width() == bench.chart.width()
    for button in (bar.symbol, bar.interval):
        assert bar.rect().contains(button.geometry()) and button.size().width() >= button.sizeHint().width()
    assert bar.height() < 40


def test_it_shows_market_and_interval_also_to_screen_readers(bench: Bench) -> None:
    bar = barred(bench)
    assert (bar.symbol.text(), bar.interval.text()) == ("BTC/USDT", "1m")
    assert bar.symbol.accessibleName() == "Market BTC/USDT on Binance"
    assert bar.interval.accessibleName() == "Interval 1m"
    bar.show_interval(Interval.parse("5m"))
    assert bar.interval.text() == "5m"
    bar.show_market(Market("file", "my-market-1m#dd2831", scenario.MINUTE))
    assert bar.symbol.text() == "my-market-1m" and "#" not in bar.symbol.accessibleName()
    assert "my-market-1m#dd2831" in bar.symbol.toolTip(), "the fingerprint distinguishes files of the same name"
    bar.show_market(Market("file", "Smith & Sons, all the rates of the last forty years", scenario.MINUTE))
    assert bar.symbol.text() == "Smith && Sons, all the rates of the last forty years"
    assert bar.minimumSizeHint().width() < 200, "in a narrow window the middle of the name is left out"


def test_before_the_first_market_only_one_can_be_chosen(bench: Bench) -> None:
    bar = MarketBar(bench.shell.actions, bench.chart, bench.theme)
    bar.show()
    assert bar.symbol.text() == "Market" and bar.symbol.accessibleName() == "Choose a market"
    assert not bar.interval.isVisible()


def test_the_buttons_open_the_search_and_the_intervals(bench: Bench, qtbot: QtBot) -> None:
    bar = barred(bench)
    with qtbot.waitSignal(bar.market_wanted):
        QTest.mouseClick(bar.symbol, Qt.MouseButton.LeftButton)
    chosen: list[str] = []
    action = bench.shell.actions[ActionId.INTERVAL_15M]
    action.triggered.connect(lambda: chosen.append("15m"))

    def choose() -> None:
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        assert [each.text().replace("&", "") for each in menu.actions()][:3] == ["1 minute", "5 minutes", "15 minutes"]
        QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())

    qtbot.waitUntil(lambda: bar.interval.isVisible())
    QTimer.singleShot(0, choose)  # before 6.12 the click returns only after something was chosen
    QTest.mouseClick(bar.interval, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: chosen == ["15m"])


def test_tab_moves_through_them_and_a_click_keeps_the_charts_focus(bench: Bench, qtbot: QtBot) -> None:
    bar = barred(bench)
    bench.window.activateWindow()
    qtbot.waitUntil(bench.window.isActiveWindow)
    bench.chart.setFocus()
    QTest.mouseClick(bar.symbol, Qt.MouseButton.LeftButton)
    assert bench.chart.hasFocus()
    for wanted in (bar.interval, bar.symbol):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
        assert QApplication.focusWidget() is wanted
    with qtbot.waitSignal(bar.market_wanted):
        QTest.keyClick(bar.symbol, Qt.Key.Key_Space)


def test_it_follows_the_theme(bench: Bench) -> None:
    bar = barred(bench)
    before = picture(bar.symbol)
    bench.theme.set_mode("light")
    assert picture(bar.symbol) != before


def picture(button: QToolButton) -> bytes:
    image = button.icon().pixmap(16).toImage()
    return bytes(image.constBits())
