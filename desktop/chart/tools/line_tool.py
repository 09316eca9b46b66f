"""Hands on price lines: a click sets one, a drag moves it, a double click edits it."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import Qt

from core.market.price_lines import PriceLine
from desktop.chart.data.model import ChartModel
from desktop.chart.tools.price_steps import floored
from desktop.chart.tools.tool import Area, ChartPoint

_DRAG_THRESHOLD_PX = 3.0


class LineDesk(Protocol):
    """Who keeps the lines."""

    @property
    def is_placing(self) -> bool:
        """Whether the next click sets a line."""

    def place(self, price: float) -> None:
        """Set the line that is being placed, where there is one."""

    def line_at(self, at: ChartPoint) -> PriceLine | None: ...

    def select(self, line: PriceLine | None) -> None: ...

    def drag(self, line: PriceLine, price: float) -> None:
        """Show it at this price; nothing is stored yet."""

    def drop(self, line: PriceLine) -> None:
        """Store it where it was dragged to. `line` is as it was before."""

    def take_back(self, line: PriceLine) -> None:
        """Put it back to where it was before."""

    def edit(self, line: PriceLine) -> None: ...


class LineTool:
    """Asked before the tools that move the view."""

    def __init__(self, desk: LineDesk, model: ChartModel) -> None:
        self._desk, self._model = desk, model
        self._held: PriceLine | None = None
        self._grabbed_y = 0.0
        self._is_dragging = False

    @property
    def is_held(self) -> bool:
        """Whether a line is in the hand."""
        return self._held is not None

    def press(self, at: ChartPoint) -> bool:
        if self._desk.is_placing:
            return (
                at.is_on_prices
            )  # it is set when the button goes up: a dialog over the chart would keep that to itself
        line = self._desk.line_at(at)
        self._desk.select(line)
        self._held, self._grabbed_y, self._is_dragging = line, at.position.y(), False
        return line is not None

    def move(self, at: ChartPoint) -> None:
        if self._held is None:
            return
        self._is_dragging = self._is_dragging or abs(at.position.y() - self._grabbed_y) >= _DRAG_THRESHOLD_PX
        if self._is_dragging:
            self._desk.drag(self._held, snapped_price(at, self._model))

    def release(self, at: ChartPoint) -> None:
        held, self._held = self._held, None
        if held is not None and self._is_dragging:
            self._desk.drop(held)
        elif held is None and at.is_on_prices:
            self._desk.place(snapped_price(at, self._model))

    def cancel(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            self._desk.take_back(held)

    def double_click(self, at: ChartPoint) -> bool:
        line = self._desk.line_at(at)
        if line is not None:
            self._desk.edit(line)
        return line is not None

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        if self._desk.is_placing:
            return Qt.CursorShape.CrossCursor if at.is_on_prices else None
        is_mine = self._held is not None or self._desk.line_at(at) is not None
        return Qt.CursorShape.SizeVerCursor if is_mine else None


def snapped_price(at: ChartPoint, model: ChartModel) -> float:
    """The price at a place, in the market's decimals; with Ctrl the nearest of the candle's four prices. A place above
    or below the prices counts as their edge, and one at zero or below as the smallest step."""
    pane = at.frame.price_pane
    row = min(max(at.pixel.y(), pane.top), pane.inner_bottom - 1)
    candle = model.candle(round(at.index)) if at.modifiers & Qt.KeyboardModifier.ControlModifier else None
    if candle is not None and at.area is not Area.PRICE_AXIS:
        # Of those in one row the close.
        return min((candle.close, candle.open, candle.high, candle.low), key=lambda price: abs(pane.y(price) - row))
    return floored(round(pane.value_at(row), model.decimals()), 10.0 ** -model.decimals())
