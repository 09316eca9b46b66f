"""Measuring by keys and menu; the tool has the mouse."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QEnterEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu

from desktop.actions import ActionId
from desktop.chart.data.measurement import Mark
from desktop.chart.items.measure import MeasureLayer
from desktop.chart.tools.measure_tool import MeasureTool, Stage
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.icons import icon
from desktop.translation import QT_TRANSLATE_NOOP, translate
from desktop.window import MainWindow

_ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, 1),
    Qt.Key.Key_Down: (0, -1),
}
_STEPS_WITH_SHIFT = 10
_HINTS = {
    Stage.READY: QT_TRANSLATE_NOOP("Chart", "Drag to measure, or move with the arrows  ·  Esc ends"),
    Stage.FOLLOWING: QT_TRANSLATE_NOOP("Chart", "Click or Enter ends the measure  ·  Esc takes it away"),
}


class ChartMeasure(QObject):
    """One measurement at a time."""

    def __init__(self, window: MainWindow, chart: ChartWidget) -> None:
        super().__init__(chart)
        self._chart = chart
        self._layer = MeasureLayer()
        self.tool = MeasureTool(chart.model, self._show)
        self._cursor: QPointF | None = None
        chart.add_layer(self._layer)
        chart.add_tool(self.tool)
        chart.show_events_to(self)
        window.actions_of_window.wire({ActionId.MEASURE: self.begin})

    def begin(self) -> None:
        """The next drag measures; arrows begin at the crosshair, or at the newest close while there is none."""
        start = self._start()
        if start is not None:
            self.tool.begin(start)

    def end(self) -> None:
        """Nothing is measured any more."""
        if self.tool.stage is not Stage.RESTING or self.tool.shown is not None:
            self.tool.clear()

    def add_to_menu(self, menu: QMenu, at: ChartPoint) -> None:
        """Measuring from a place."""
        mark = self.tool.mark_at(at) if at.is_on_prices else None
        if mark is not None:
            entry = menu.addAction(
                icon("ruler-square", self._chart.style_shown.palette.text), translate("Chart", "&Measure from here")
            )
            entry.triggered.connect(lambda: self.tool.follow(mark))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.MouseMove and isinstance(event, QMouseEvent):
            self._on_mouse(event)
        elif isinstance(event, QEnterEvent):
            self._cursor = event.position()
        elif kind == QEvent.Type.Leave:
            self._cursor = None
        elif kind == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._on_key(event)
        return False

    def _start(self) -> Mark | None:
        pointed_at = self._chart.key_mark
        if pointed_at is not None:
            return pointed_at
        if self._cursor is not None:
            at = self._chart.point_at(self._cursor)
            if at.is_on_prices:
                return self.tool.mark_at(at)
        newest = self._chart.model.newest
        return None if newest is None else Mark(newest.open_time_ms, newest.close)

    def _on_mouse(self, event: QMouseEvent) -> None:
        self._cursor = event.position()
        if self.tool.stage is Stage.FOLLOWING and not self._chart.model.is_empty and not event.buttons():
            mark = self.tool.mark_at(self._chart.point_at(event.position(), event.modifiers()))
            if mark is not None:
                self.tool.stretch(mark)

    def _on_key(self, event: QKeyEvent) -> bool:
        key, is_under_way = Qt.Key(event.key()), self.tool.stage in (Stage.READY, Stage.FOLLOWING)
        if key == Qt.Key.Key_Escape and (is_under_way or (self.tool.shown is not None and self._is_resting)):
            self.tool.clear()
            return True
        if not is_under_way:
            return False
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.tool.finish()
            return True
        others = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
        if key not in _ARROWS or event.modifiers() & others:  # those of the crosshair and the price axis
            return False
        candles, prices = _ARROWS[key]
        times = _STEPS_WITH_SHIFT if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1
        self.tool.nudge(candles * times, prices * times, self._chart.frame.prices.span)
        return True

    @property
    def _is_resting(self) -> bool:
        return self.tool.stage is Stage.RESTING

    def _show(self) -> None:
        self._layer.shown, self._layer.hint = self.tool.shown, translate("Chart", _HINTS.get(self.tool.stage, ""))
        self._chart.layers_changed()
