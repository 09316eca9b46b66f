"""Measuring: Shift+drag, or start it and drag, click twice, or move the end with the arrow keys."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu

from core.domain.drawings import Anchor
from desktop.actions import ActionId
from desktop.chart.controllers.placed_kind import Placeable
from desktop.chart.controllers.placed_store import PlacedStore
from desktop.chart.data.anchors import bounded, index_at, time_at
from desktop.chart.items.measure import MeasureLayer, Measurement
from desktop.chart.tools.places import ARROWS, TEN_AT_ONCE, anchor_at, tick_of
from desktop.chart.tools.tool import ChartPoint
from desktop.chart.widget import ChartWidget
from desktop.state.shell import Shell
from desktop.ui.translation import translate

_MEASURE = "measure"
_KINDS = {ActionId.MEASURE: _MEASURE}
_STEPS_IN_VIEW = 100.0


class ChartMeasure(Placeable[Measurement]):
    """One measurement at a time, shown until the next press."""

    thing_type = Measurement
    kinds = _KINDS
    is_stored = False

    def __init__(self, shell: Shell, chart: ChartWidget, store: PlacedStore) -> None:
        super().__init__(shell, chart, store, MeasureLayer())
        self._origin: Anchor | None = None

    def ends(self, kind: str) -> int:
        return 2

    def begun(self, kind: str) -> None:
        """Arrow keys start at the crosshair, or at the newest close if there is none."""
        newest = self._model.newest
        self._origin = self._chart.key_mark or self.placement.at_mouse
        if self._origin is None and newest is not None:
            self._origin = bounded(newest.open_time_ms, newest.close)

    def starts_on_press(self, at: ChartPoint) -> bool:
        return at.is_on_prices and bool(at.modifiers & Qt.KeyboardModifier.ShiftModifier)

    def hint(self, kind: str) -> str:
        if self.placement.start is None:
            return translate("Chart", "Drag to measure, or move with the arrows  ·  Esc cancels")
        return translate("Chart", "Click or Enter ends the measurement  ·  Esc removes it")

    def made(self, kind: str, anchors: tuple[Anchor, ...]) -> Measurement:
        """Nothing is measured before the first candle."""
        first = time_at(self._model, 0)
        start, end = (replace(anchor, time_ms=max(anchor.time_ms, first)) for anchor in anchors)
        return Measurement(start, end)

    def stretched(self, key: Qt.Key, modifiers: Qt.KeyboardModifier) -> bool:
        """Arrow keys move the end by candles, and by hundredths of the visible price range."""
        if key not in ARROWS or modifiers not in TEN_AT_ONCE or self._origin is None:
            return False
        if self.placement.start is None:
            self.placement.put(self._origin)
        candles, steps = (way * TEN_AT_ONCE[modifiers] for way in ARROWS[key])
        end, tick = self.placement.end or self._origin, tick_of(self._model)
        price = end.price + steps * max(self._chart.frame.prices.span / _STEPS_IN_VIEW, tick)
        time_ms = time_at(self._model, max(index_at(self._model, end.time_ms) + candles, 0))
        self.placement.stretch(bounded(time_ms, max(round(price, self._model.decimals()), tick)))
        return True

    def add_new_to_menu(self, menu: QMenu, at: ChartPoint) -> None:
        if at.is_on_prices:
            start = anchor_at(at, self._model)
            self.offer(menu, "ruler-square", translate("Chart", "&Measure from here"), lambda: self.follow(start))

    def follow(self, start: Anchor) -> None:
        """Measure from here to the mouse."""
        self.placement.begin(self, _MEASURE)
        self.placement.put(start)
