"""The user's drawings over the candles: lines, rectangles, Fibonacci retracements and texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.domain.drawings import Drawing, DrawingKind
from desktop.chart.data.model import ChartModel
from desktop.chart.items.drawing_shapes import Shape, grip_of, shape_of, text_font
from desktop.chart.items.placed import Grip, PlacedLayer, row_of
from desktop.chart.labels.axis_labels import price_label_rect
from desktop.chart.labels.chance import chance_tip, short_chance
from desktop.chart.painting.primitives import dashes
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame
from desktop.chart.panes.layer import PlotLabel
from desktop.ui.theme import with_alpha

_AREA_ALPHAS = (22, 36)
_HALO_PX = 1.5
"""Outline width around letters, so that text over a candle is readable."""
_AROUND = ((1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7))
_HANDLE_PX = 4
_DASH_WIDTHS = 4
_BEYOND_PX = _HANDLE_PX + 2
"""How far handles and outlines extend beyond a drawing's lines."""


class DrawingsLayer(PlacedLayer[Drawing]):
    """Each drawing is a plot label: its geometry is computed once per view, and paints of other pixels skip it."""

    def __init__(self) -> None:
        super().__init__()
        self._shapes: tuple[Shape, ...] = ()
        self._labels: tuple[PlotLabel, ...] = ()
        self._tags: tuple[Box, ...] = ()
        self._key: object = None

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        self._place(frame, model)
        return self._labels

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        """The prices of visible horizontal lines, away from other price labels."""
        self._place(frame, model)
        tags: list[Box] = []
        for tag in self._tags:
            if not any(tag.rect.intersects(other.rect) for other in (*taken, *tags)):
                tags.append(tag)
        return tags

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """The chance of the price of a horizontal line under the mouse."""
        hovered = next((each for each in self.shown.things if self.is_hovered(each)), None)
        if hovered is None or hovered.kind is not DrawingKind.HORIZONTAL:
            return None
        return chance_tip(frame, model, hovered.anchors[0].price, cursor)

    def grip_at(self, frame: Frame, model: ChartModel, pixel: QPoint) -> Grip[Drawing] | None:
        """The part of the topmost drawing at a device pixel."""
        self._place(frame, model)
        shapes = [shape for shape in reversed(self._shapes) if shape.drawing is not self.shown.preview]
        place = QPointF(pixel) + QPointF(0.5, 0.5)
        return next((grip for shape in shapes if (grip := grip_of(shape, frame, place)) is not None), None)

    def _place(self, frame: Frame, model: ChartModel) -> None:
        # Times ahead of the closed candles continue from the forming one.
        key = (frame, model.version, id(model.series), model.time_at(model.count), self.shown, model.futures.found_for)
        if key == self._key:
            return
        self._key, drawings = key, self.back_to_front()
        self._shapes = tuple(shape_of(frame, model, drawing) for drawing in drawings)
        self._labels = tuple(
            self._label(frame, shape, area) for shape in self._shapes if (area := shape.area) is not None
        )
        tags = (_tag(frame, model, drawing) for drawing in drawings if drawing.kind is DrawingKind.HORIZONTAL)
        self._tags = tuple(tag for tag in tags if tag is not None)

    def _label(self, frame: Frame, shape: Shape, area: QRect) -> PlotLabel:
        drawing, reach = shape.drawing, frame.scaled(_BEYOND_PX + shape.drawing.width_px)
        is_active = drawing is self.shown.preview or self.is_selected(drawing) or self.is_hovered(drawing)
        paint = partial(_paint, frame=frame, shape=shape, is_active=is_active)
        return PlotLabel(area.adjusted(-reach, -reach, reach, reach), (drawing, is_active), paint)


def colour_of(frame: Frame, drawing: Drawing) -> QColor:
    """The drawing's colour, otherwise the theme's."""
    return QColor(drawing.colour) if drawing.colour else QColor(frame.palette.accent)


def _tag(frame: Frame, model: ChartModel, drawing: Drawing) -> Box | None:
    """Its price, and the chance of it; None if the price is out of view."""
    price = drawing.anchors[0].price
    row = row_of(frame, price)
    if row is None:
        return None
    rows: tuple[Row, ...] = ((Span(frame.price_text(price), frame.palette.text),),)
    if chance := short_chance(frame, model, price):
        rows += ((Span(chance, frame.palette.muted_text),),)
    ground, edge = frame.palette.background, colour_of(frame, drawing)
    return Box(price_label_rect(frame, row, rows), rows, ground, edge, price=price)


def _paint(painter: QPainter, frame: Frame, shape: Shape, *, is_active: bool) -> None:
    colour = colour_of(frame, shape.drawing)
    for place, area in enumerate(shape.areas):
        painter.fillRect(area, with_alpha(colour, _AREA_ALPHAS[place % 2]))
    pen = QPen(colour, max(frame.scaled(shape.drawing.width_px), frame.pixel))
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    is_slanted = shape.drawing.kind in (DrawingKind.TREND_LINE, DrawingKind.RAY)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, is_slanted)
    painter.drawLines(list(shape.lines))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    if shape.guides:
        painter.drawLines([dash for guide in shape.guides for dash in dashes(guide, _DASH_WIDTHS * pen.widthF())])
    if shape.words:
        _write(painter, frame, shape, colour)
    if is_active:
        _paint_handles(painter, frame, shape, colour)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _write(painter: QPainter, frame: Frame, shape: Shape, colour: QColor) -> None:
    """With an outline in the background colour and no box, so that the candles beside it stay visible."""
    painter.setFont(text_font(frame, shape.drawing) if shape.drawing.text else frame.fonts.regular)
    halo = _HALO_PX * frame.ratio
    for words in shape.words:
        painter.setPen(frame.palette.background)
        for x, y in _AROUND:
            painter.drawText(words.baseline + QPointF(x * halo, y * halo), words.said)
        painter.setPen(colour)
        painter.drawText(words.baseline, words.said)


def _paint_handles(painter: QPainter, frame: Frame, shape: Shape, colour: QColor) -> None:
    painter.setPen(QPen(colour, 2 * frame.pixel))
    painter.setBrush(frame.palette.background)
    size = frame.scaled(_HANDLE_PX)
    for handle in shape.handles:
        if QRect(frame.price_pane.rect).adjusted(-size, -size, size, size).contains(handle.toPoint()):
            painter.drawEllipse(handle, size, size)
