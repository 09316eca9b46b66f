"""Hands on drawings: clicks or a drag set one, a drag of a handle forms it, a drag of the rest moves it."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from PySide6.QtCore import QPointF, Qt

from core.market.drawings import Anchor, Drawing, DrawingKind
from core.market.validate import HIGHEST_PRICE, LOWEST_PRICE
from desktop.chart.axes.price_scale import PriceRange
from desktop.chart.data.anchors import index_at, shifted, time_at
from desktop.chart.data.model import ChartModel
from desktop.chart.items.drawing_shapes import Grip, reshaped
from desktop.chart.tools.line_tool import snapped_price
from desktop.chart.tools.tool import ChartPoint

_DRAG_THRESHOLD_PX = 3.0


class DrawingDesk(Protocol):
    """Who keeps the drawings."""

    @property
    def placing(self) -> DrawingKind | None:
        """What is being set."""

    @property
    def is_elsewhere(self) -> bool:
        """Whether the mouse is for something else just now."""

    def preview(self, anchors: tuple[Anchor, ...]) -> None:
        """Show what is being set; nothing is stored yet."""

    def finish(self, anchors: tuple[Anchor, ...]) -> None:
        """Set it."""

    def end(self) -> None:
        """Set none."""

    def grip_at(self, at: ChartPoint) -> Grip | None: ...

    def select(self, drawing: Drawing | None) -> None: ...

    def drag(self, drawing: Drawing) -> None:
        """Show it like this; nothing is stored yet."""

    def drop(self) -> None:
        """Store it as it was dragged to."""

    def take_back(self) -> None:
        """Put it back to what it was before."""

    def edit(self, drawing: Drawing) -> None: ...


class DrawingTool:
    """Asked before the tools that move the view."""

    def __init__(self, desk: DrawingDesk, model: ChartModel) -> None:
        self._desk, self._model = desk, model
        self._grip: Grip | None = None
        self._grabbed = Anchor(0, 1.0)
        self._pressed_at = QPointF()
        self._start: Anchor | None = None
        self._is_first_press = self._is_pressed = self._is_dragging = False

    @property
    def is_held(self) -> bool:
        """Whether the mouse's button is down for it."""
        return self._is_pressed

    def forget_start(self) -> None:
        """Another drawing is set, or none."""
        self._start = None

    def put(self, anchor: Anchor) -> None:
        """The next place of what is being set."""
        kind = self._desk.placing
        if kind is None:
            return
        if kind.anchors == 1:
            self._desk.finish((anchor,))
        elif self._start is None:
            self._start = anchor
            self.stretch(anchor)
        elif anchor != self._start:
            self._desk.finish((self._start, anchor))

    def stretch(self, end: Anchor) -> None:
        """Show what is being set with its end there."""
        kind = self._desk.placing
        if kind is not None and (kind.anchors == 1 or self._start is not None):
            self._desk.preview((end,) if self._start is None else (self._start, end))

    def press(self, at: ChartPoint) -> bool:
        self._pressed_at, self._is_dragging = at.position, False
        if self._desk.placing is not None:
            return self._press_placing(at)
        if self._desk.is_elsewhere:
            return False
        self._grip, self._grabbed = self._desk.grip_at(at), raw_anchor(at, self._model)
        self._desk.select(None if self._grip is None else self._grip.drawing)
        self._is_pressed = self._grip is not None
        return self._is_pressed

    def move(self, at: ChartPoint) -> None:
        way = at.position - self._pressed_at
        self._is_dragging = self._is_dragging or way.manhattanLength() >= _DRAG_THRESHOLD_PX
        if not self._is_dragging:
            return
        if self._grip is None:
            self.stretch(anchor_at(at, self._model))
        elif self._grip.handle is not None:
            self._desk.drag(reshaped(self._grip.drawing, self._grip.handle, anchor_at(at, self._model)))
        else:
            self._desk.drag(moved(self._grip.drawing, self._model, at, self._grabbed))

    def release(self, at: ChartPoint) -> None:
        grip, self._grip, self._is_pressed = self._grip, None, False
        if grip is not None:
            if self._is_dragging:
                self._desk.drop()
        elif self._is_dragging or not self._is_first_press:
            self.put(anchor_at(at, self._model))

    def cancel(self) -> None:
        grip, self._grip, self._is_pressed = self._grip, None, False
        if grip is not None:
            self._desk.take_back()
        else:
            self._desk.end()

    def double_click(self, at: ChartPoint) -> bool:
        if self._desk.placing is not None:
            return True  # two clicks at one place are no line
        grip = None if self._desk.is_elsewhere else self._desk.grip_at(at)
        if grip is not None:
            self._desk.edit(grip.drawing)
        return grip is not None

    def shape_at(self, at: ChartPoint) -> Qt.CursorShape | None:
        if self._desk.placing is not None:
            return Qt.CursorShape.CrossCursor if at.is_on_prices else None
        grip = self._grip or (None if self._desk.is_elsewhere else self._desk.grip_at(at))
        if grip is None:
            return None
        return Qt.CursorShape.PointingHandCursor if grip.handle is None else Qt.CursorShape.SizeAllCursor

    def _press_placing(self, at: ChartPoint) -> bool:
        """A first place is put at once where another is to come; the last one when the button goes up, because a
        dialog over the chart would keep that to itself."""
        if not at.is_on_prices or self._desk.placing is None:
            return False
        self._is_pressed = True
        self._is_first_press = self._start is None and self._desk.placing.anchors > 1
        if self._is_first_press:
            self.put(anchor_at(at, self._model))
        return True


def anchor_at(at: ChartPoint, model: ChartModel) -> Anchor:
    """The candle and the price at a place; with Ctrl the nearest of the candle's four prices."""
    return Anchor(time_at(model, round(at.index)), _within(snapped_price(at, model)))


def raw_anchor(at: ChartPoint, model: ChartModel) -> Anchor:
    """The same without rounding or snapping the price."""
    price = at.frame.price_pane.value_at(at.pixel.y())
    return Anchor(time_at(model, round(at.index)), _within(price))


def moved(drawing: Drawing, model: ChartModel, at: ChartPoint, grabbed: Anchor) -> Drawing:
    """All of it moved by as much as the hand, which took hold of it at `grabbed`."""
    shown = at.frame.prices
    rise = shown.share(at.frame.price_pane.value_at(at.pixel.y())) - shown.share(grabbed.price)
    return moved_by(drawing, model, shown, round(at.index) - index_at(model, grabbed.time_ms), rise)


def moved_by(drawing: Drawing, model: ChartModel, shown: PriceRange, candles: int, rise: float) -> Drawing:
    """By candles, and by a share of the height of the prices in view, so that it keeps its form on a logarithmic scale
    as well; as far as no end comes to zero or out of all bounds."""
    prices, decimals = [anchor.price for anchor in drawing.anchors], model.decimals()
    tick = max(10.0**-decimals, LOWEST_PRICE)
    rise = min(rise, shown.share(HIGHEST_PRICE) - shown.share(max(prices)))
    rise = max(rise, shown.share(tick) - shown.share(min(prices)))
    if rise:
        lifted = (round(shown.value_at(shown.share(price) + rise), decimals) for price in prices)
        prices = [min(max(price, tick), HIGHEST_PRICE) for price in lifted]
    anchors = (
        Anchor(shifted(model, anchor.time_ms, candles), price)
        for anchor, price in zip(drawing.anchors, prices, strict=True)
    )
    return replace(drawing, anchors=tuple(anchors))


def _within(price: float) -> float:
    return min(max(price, LOWEST_PRICE), HIGHEST_PRICE)
