"""A window over a real database with the chart's tools, and user input for it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from core.domain.candle import Candle, Market
from core.storage.folder import DataFolder
from desktop.chart.controllers.composition import ChartTools
from desktop.chart.widget import ChartWidget
from desktop.state.database import WindowDatabase
from tests.desktop import scenario
from tests.desktop.conftest import Bench, MakeBench, fill

MARKET = Market("binance", "BTC/USDT", scenario.MINUTE)
OTHER = Market("binance", "ETH/USDT", scenario.MINUTE)
LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier
ALT_SHIFT = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier


@dataclass
class ToolBench:
    """A shown, complete window with its tools."""

    bench: Bench
    tools: ChartTools
    candles: list[Candle]

    @property
    def newest(self) -> Candle:
        return self.candles[-1]

    def point(self, index: int, price: float) -> QPoint:
        """The logical point over a candle at a price."""
        self.bench.chart.flush()
        frame = self.bench.chart.frame
        return QPoint(round(frame.x(index) / frame.ratio), round(frame.y(price) / frame.ratio))

    def price_at(self, point: QPoint) -> float:
        frame = self.bench.chart.frame
        return frame.price_pane.value_at(point.y() * frame.ratio)

    def middle(self, share: float = 0.6) -> QPoint:
        """A place over the candles away from candle prices: by the share of the prices' height."""
        shown = self.bench.chart.frame.prices
        return self.point(len(self.candles) - 30, shown.low + share * shown.span)

    def hover(self, point: QPoint) -> None:
        # QTest.mouseMove sends nothing if an earlier test left the mouse at the same place.
        send_move(self.bench.chart, point, Qt.MouseButton.NoButton, NONE)
        self.bench.chart.flush()

    def click(self, point: QPoint, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.mouseClick(self.bench.chart.viewport(), LEFT, modifiers, point)
        self.bench.chart.flush()

    def drag(self, start: QPoint, end: QPoint, modifiers: Qt.KeyboardModifier = NONE, *, release: bool = True) -> None:
        chart = self.bench.chart
        QTest.mousePress(chart.viewport(), LEFT, modifiers, start)
        for share in (0.4, 1.0):
            at = start + (end - start) * share
            # QTest.mouseMove supports neither buttons nor modifiers.
            send_move(chart, at, LEFT, modifiers)
        if release:
            QTest.mouseRelease(chart.viewport(), LEFT, modifiers, end)
        chart.flush()

    def key(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
        QTest.keyClick(self.bench.chart, key, modifiers)
        self.bench.chart.flush()

    def act(self, key: Qt.Key) -> None:
        """Commands at a place of the chart have shortcuts with Alt and Shift."""
        self.key(key, ALT_SHIFT)

    def menu_texts(self, point: QPoint) -> list[str]:
        menu = self.tools.menu.build(self.bench.chart.point_at(point.toPointF()))
        texts = [action.text().replace("&", "") for action in menu.actions() if not action.isSeparator()]
        menu.deleteLater()
        return texts

    def choose(self, point: QPoint, text: str) -> None:
        """Open the context menu by the right button, and choose an entry."""
        chart = self.bench.chart
        reason = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(chart.viewport(), QContextMenuEvent(reason, point, chart.mapToGlobal(point)))
        menu = QApplication.activePopupWidget()
        assert menu is not None
        action = next(action for action in menu.actions() if text in action.text().replace("&", ""))
        action.trigger()
        menu.close()
        chart.flush()


def send_move(chart: ChartWidget, at: QPoint, button: Qt.MouseButton, modifiers: Qt.KeyboardModifier) -> None:
    place = at.toPointF()
    event = QMouseEvent(QMouseEvent.Type.MouseMove, place, chart.mapToGlobal(place), button, button, modifiers)
    QApplication.sendEvent(chart.viewport(), event)


def wait_for_keys(qtbot: QtBot, bench: Bench) -> None:
    """Shortcuts need an active window."""
    bench.window.activateWindow()
    qtbot.waitUntil(bench.window.isActiveWindow)


@contextmanager
def opened(make_bench: MakeBench, folder: Path) -> Iterator[ToolBench]:
    """Composed as in the application; the database is closed at the end and may be opened again."""
    database = WindowDatabase(DataFolder(folder))
    database.open()
    bench = make_bench()
    tools = ChartTools(bench.shell, bench.chart, bench.state, bench.source, bench.window.messages, database)
    tools.markers.incident_chosen.connect(bench.window.show_incident)
    tools.markers.checkpoint_chosen.connect(bench.window.show_checkpoint)
    candles = scenario.market()
    fill(bench, candles)
    tools.show_market(MARKET, candles[-1])
    while bench.window.banner.shown is not None:
        bench.window.banner.dismiss()
    QApplication.processEvents()  # the layout without the banner
    bench.window.activateWindow()
    bench.chart.setFocus()
    bench.chart.flush()
    try:
        yield ToolBench(bench, tools, candles)
    finally:
        database.close()
