"""Alerts and notes: a line across the plot with a label, and its price on the axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from core.domain.plain_text import LONGEST_LABEL
from core.domain.price_lines import LineKind, PriceLine
from desktop.chart.axes.price_scale import ScaleKind
from desktop.chart.data.model import ChartModel
from desktop.chart.items.placed import PlacedLayer, row_of
from desktop.chart.labels.axis_labels import avoid_overlaps, price_label_rect, spread_around
from desktop.chart.labels.chance import chance_tip
from desktop.chart.labels.readout import text_tip
from desktop.chart.painting.text import Box, Row, Span
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import LIVE_Z, PlotLabel
from desktop.ui import formatting
from desktop.ui.formatting import crossing_time
from desktop.ui.icons import glyph, glyph_font
from desktop.ui.plain_text import elided_by_words
from desktop.ui.theme import with_alpha
from desktop.ui.translation import translate

_REACH_PX = 4
_LABEL_LEFT_PX = 12
_LONGEST_LABEL = 48
_FAINT_ALPHA = 120
_TINT_ALPHA = 46


@dataclass(frozen=True)
class _Placed:
    """A visible line: its pixel row, its label's text, and the positions of label and tag, which may be moved to avoid
    overlaps."""

    line: PriceLine
    row: int
    text: str
    label: QRect
    tag: Box


class PriceLinesLayer(PlacedLayer[PriceLine]):
    """Drawn over everything with each paint: lines are few, and ticks do not move them. Labels avoid the readout, and
    tags the last price."""

    z, is_cached = LIVE_Z, False

    def __init__(self) -> None:
        super().__init__()
        self._cut: list[tuple[QRect, PriceLine]] = []
        """Labels that were shortened in the last layout."""

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for line in self.back_to_front():
            row = row_of(frame, line.price)
            if row is not None:
                self._paint_line(painter, frame, line, row)

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        labels: list[PlotLabel] = []
        self._cut = []
        for placed in self._placed(frame, taken, ()):
            line, is_selected, is_hovered = placed.line, self.is_selected(placed.line), self.is_hovered(placed.line)
            if placed.text != _words(frame, line, LONGEST_LABEL):
                self._cut.append((placed.label, line))
            paint = partial(_paint_label, frame=frame, placed=placed, is_filled=is_selected, is_tinted=is_hovered)
            labels.append(PlotLabel(placed.label, (line, is_selected, is_hovered), paint))
        return labels

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        """The full text of the label under the cursor, if it is shortened; else the chance of the line's price, if
        there is one. The price axis says why there is none: here it would cover candles, and tell nothing."""
        line = next((line for area, line in reversed(self._cut) if area.contains(cursor)), None)
        if line is not None:
            return text_tip(frame, cursor, _words(frame, line, LONGEST_LABEL))
        hovered = next((line for line in self.shown.things if self.is_hovered(line)), None)
        has_chance = hovered is not None and bool(model.chances_of(hovered.price))
        return chance_tip(frame, model, hovered.price, cursor) if hovered is not None and has_chance else None

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        selected = next((line for line in self.shown.things if self.is_selected(line)), None)
        if self.shown.hint or selected is None or row_of(frame, selected.price) is not None:
            return super().rows(frame, model, index)
        text = translate("Chart", "Selected: {0}, at {1}, below the prices in view")
        if frame.price_pane.y(selected.price) < frame.price_pane.top:
            text = translate("Chart", "Selected: {0}, at {1}, above the prices in view")
        price = formatting.format_price(selected.price, frame.decimals)
        return ((Span(text.format(_words(frame, selected), price), frame.palette.accent),),)

    def axis_tags(self, frame: Frame, model: ChartModel, taken: Sequence[Box]) -> Sequence[Box]:
        return [each.tag for each in self._placed(frame, (), taken)]

    def line_at(self, frame: Frame, pixel: QPoint, taken: Sequence[QRect], on_axis: Sequence[Box]) -> PriceLine | None:
        """The topmost label, axis tag or line at a device pixel, laid out beside the taken areas of plot and axis."""
        reach = frame.scaled(_REACH_PX)
        placed = [each for each in reversed(self._placed(frame, taken, on_axis)) if each.line is not self.shown.preview]
        for each in placed:  # a moved label may cover another line
            if each.label.contains(pixel) or each.tag.rect.contains(pixel):
                return each.line
        nearest = min(placed, key=lambda each: abs(pixel.y() - each.row), default=None)
        is_on_plot = pixel.x() < frame.layout.plot_right
        if nearest is None or not is_on_plot or abs(pixel.y() - nearest.row) > reach:
            return None
        return nearest.line

    def _placed(self, frame: Frame, taken: Sequence[QRect], on_axis: Sequence[Box]) -> list[_Placed]:
        """Visible lines, back to front. A line being placed does not move others, and its price stays at the mouse."""
        rows = [(line, row) for line in self.back_to_front() if (row := row_of(frame, line.price)) is not None]
        # As many of a label's words as fit beside the axis.
        room = max(frame.layout.plot_right - 2 * frame.scaled(_LABEL_LEFT_PX) - _around_the_words(frame), 0)
        texts = [elided_by_words(_words(frame, line), frame.fonts.metrics, room) for line, _ in rows]
        labels = [_label_rect(frame, text, row) for text, (_, row) in zip(texts, rows, strict=True)]
        tags = [self._tag(frame, line, row) for line, row in rows]
        pane, axis = frame.price_pane, frame.layout.price_axis
        # From the highest price down: of two in one row, the higher one's label is on top.
        order = sorted(range(len(rows)), key=lambda place: -rows[place][0].price)
        still = [place for place in order if rows[place][0] is not self.shown.preview]
        _part([labels[place] for place in still], pane.top, pane.bottom, taken)
        for place in set(order).difference(still):
            if any(labels[place].intersects(each) for each in taken):
                around = (*taken, *(labels[other] for other in still))
                _part([labels[place]], pane.top, pane.bottom, around)
        avoid_overlaps([tags[place] for place in still], axis.height(), on_axis)
        placed = zip(rows, texts, labels, tags, strict=True)
        return [_Placed(line, row, text, label, tag) for (line, row), text, label, tag in placed]

    def _paint_line(self, painter: QPainter, frame: Frame, line: PriceLine, row: int) -> None:
        colour, is_bold = _colour(frame, line), self.is_selected(line) or self.is_hovered(line)
        pen = QPen(colour, frame.pixel * (2 if is_bold else 1))
        pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        if line.crossed_at_ms is not None or line is self.shown.preview:
            pen.setDashPattern([6.0, 4.0])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(pen)
        painter.drawLine(0, row, frame.layout.plot_right, row)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        if self.is_selected(line):
            _paint_grip(painter, frame, row, colour)

    def _tag(self, frame: Frame, line: PriceLine, row: int) -> Box:
        colour = _colour(frame, line)
        is_filled = line.is_watched or self.is_selected(line)
        quiet = colour if colour.alpha() == 255 else frame.palette.muted_text
        ink = frame.palette.inverse_text if is_filled else quiet
        price = formatting.format_price(line.price, frame.decimals)
        rows: tuple[Row, ...] = ((Span(price, ink, bold=is_filled),),)
        if frame.prices.kind is ScaleKind.PERCENT:
            rows += ((Span(frame.price_text(line.price), ink),),)
        ground = with_alpha(colour, 255) if is_filled else frame.palette.background
        return Box(price_label_rect(frame, row, rows), rows, ground, None if is_filled else colour, price=line.price)


def _part(boxes: Sequence[QRect], first: int, stop: int, taken: Sequence[QRect]) -> None:
    """Move the boxes of one column apart and away from its `taken` parts."""
    if not boxes:
        return
    left, right = min(box.left() for box in boxes), max(box.right() for box in boxes)
    in_the_way = [(each.top(), each.bottom() + 1) for each in taken if each.left() <= right and each.right() >= left]
    tops = spread_around([box.top() for box in boxes], boxes[0].height(), first, stop, in_the_way)
    for box, top in zip(boxes, tops, strict=True):
        box.moveTop(top)


def _colour(frame: Frame, line: PriceLine) -> QColor:
    if line.kind is LineKind.NOTE:
        return frame.palette.curves[4]
    return frame.palette.warning if line.is_armed else with_alpha(frame.palette.warning, _FAINT_ALPHA)


def _glyph_name(line: PriceLine) -> str:
    if line.kind is LineKind.NOTE:
        return "note-text"
    return "bell" if line.is_armed else "bell-check-outline" if line.crossed_at_ms is not None else "bell-off-outline"


def _words(frame: Frame, line: PriceLine, longest: int = _LONGEST_LABEL) -> str:
    text = line.text or (translate("Chart", "Alert") if line.kind is LineKind.ALERT else translate("Chart", "Note"))
    if len(text) > longest:
        text = text[: longest - 1].rstrip() + "…"
    if line.crossed_at_ms is not None:
        crossed = translate("Chart", "crossed {0}").format(crossing_time(line, frame.time_zone))
        text = f"{text}  ·  {crossed}"
    return text


def _around_the_words(frame: Frame) -> int:
    """The part of a label's width that its glyph and margins take."""
    return round(frame.fonts.line * 1.15) + 2 * frame.scaled(6) + frame.scaled(4)


def _label_rect(frame: Frame, text: str, row: int) -> QRect:
    fonts = frame.fonts
    width = fonts.width(text) + _around_the_words(frame)
    height = fonts.line + frame.scaled(4)
    top = min(max(row - height // 2, frame.price_pane.top), frame.price_pane.bottom - height)
    return QRect(frame.scaled(_LABEL_LEFT_PX), top, width, height)


def _paint_label(painter: QPainter, frame: Frame, placed: _Placed, *, is_filled: bool, is_tinted: bool) -> None:
    """Paint glyph and text, on the line's colour if the line is selected, on a tint of it if it is hovered."""
    line, area, colour, palette = placed.line, placed.label, _colour(frame, placed.line), frame.palette
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(QPen(colour, frame.pixel))
    for ground in (palette.background, with_alpha(colour, 255 if is_filled else _TINT_ALPHA)):
        if ground is palette.background or is_filled or is_tinted:
            painter.setBrush(ground)
            painter.drawRoundedRect(QRectF(area).adjusted(0.5, 0.5, -0.5, -0.5), frame.scaled(4), frame.scaled(4))
    is_dim = line.kind is LineKind.ALERT and not line.is_armed
    ink = palette.inverse_text if is_filled else palette.muted_text if is_dim else palette.text
    inset, glyph_width = frame.scaled(6), round(frame.fonts.line * 1.15)
    at_left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.setFont(glyph_font(round(frame.fonts.line * 0.95)))
    painter.setPen(ink if is_filled or is_dim else colour)
    painter.drawText(area.adjusted(inset, 0, 0, 0), at_left, glyph(_glyph_name(line)))
    painter.setFont(frame.fonts.regular)
    painter.setPen(ink)
    painter.drawText(area.adjusted(inset + glyph_width, 0, 0, 0), at_left, placed.text)


def _paint_grip(painter: QPainter, frame: Frame, row: int, colour: QColor) -> None:
    size = frame.scaled(5)
    centre = QPointF(frame.layout.plot_right - 2.5 * size, row + frame.pixel / 2)
    painter.setPen(QPen(colour, 2 * frame.pixel))
    painter.setBrush(frame.palette.background)
    painter.drawEllipse(centre, size, size)
