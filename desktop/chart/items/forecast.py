"""What is not real: ghosts, their bands and the divider, in hues of their own, on bands that fade."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QLinearGradient, QPaintEngine, QPainter, QPen, QPixmap, QPolygonF, QRegion

from desktop.chart.data.ghosts import PlacedGhost, band
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.forecast_label import divider_x
from desktop.chart.painting.geometry import CandleWidths
from desktop.chart.painting.primitives import FIELDS, draw_parts, fill_rects, outline, rects
from desktop.chart.painting.text import Box, Span, box_size, paint_box
from desktop.chart.panes.frame import Frame
from desktop.translation import translate

_RISING_ALPHA = 120
_FALLING_ALPHA = 235
"""Of a body with a frame: lighter where it rises, for those to whom the two colours are one."""
_VOLUME_ALPHA = 70
_EDGE_ALPHA = 110
_FADED = 0.3
"""What is left of a band's colour at its far end."""
_STEPS = 32
"""Of a band that fades without a gradient."""
_DIMMED = 0.45
_NARROWEST_FRAMED_PX = 5
_FLATTEST_FRAMED_PX = 3


class ForecastLayer:
    """Keeps the forecast's picture: only a new view, forecast or forming candle's arrival paints it anew."""

    def __init__(self) -> None:
        self._pixmap = QPixmap()
        self._area = QRect()
        self._key: tuple[object, ...] | None = None

    def forget(self) -> None:
        self._key = None

    def paint(self, painter: QPainter, frame: Frame, model: ChartModel, wanted: QRegion) -> None:
        """Put the `wanted` device pixels of it on the plot. Nothing where there is no forecast ahead."""
        # The forecast itself is held, not its id: a later one may get the same.
        # A ghost has a wider frame while its candle forms, which is not told by the times ahead.
        forms = model.forming is not None
        shown = (model.forecast, model.ghosts(), model.other_interval)
        key = (*frame.base_key(model.version), *shown, model.time_at(model.count), forms)
        if self._key is None or key != self._key:
            self._repaint(frame, model)
            self._key = key
        if not self._area.isEmpty():
            draw_parts(painter, self._pixmap, self._area.topLeft(), wanted)

    def _repaint(self, frame: Frame, model: ChartModel) -> None:
        ghosts, note = model.ghosts(), _interval_note(frame, model)
        self._area = _area(frame, ghosts)
        if note is not None:
            self._area = self._area.united(note.rect)
        if self._area.isEmpty():
            return
        self._pixmap = QPixmap(self._area.size())
        self._pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(self._pixmap)
        painter.translate(-self._area.topLeft())
        _paint_ahead(painter, frame, model, note)
        painter.end()

    def paint_alone(self, painter: QPainter, frame: Frame, model: ChartModel) -> None:
        """Without the kept picture, as for a file."""
        _paint_ahead(painter, frame, model, _interval_note(frame, model))


def _paint_ahead(painter: QPainter, frame: Frame, model: ChartModel, note: Box | None) -> None:
    ghosts = model.ghosts()
    if ghosts:
        _paint_forecast(painter, frame, model, ghosts)
    if note is not None:
        paint_box(painter, note, frame.fonts)


def _interval_note(frame: Frame, model: ChartModel) -> Box | None:
    """Where the candles are not those that the run learns from: why there are no ghosts, or what they are joined of. In
    the upper right corner."""
    other = model.other_interval
    if other is None:
        return None
    if model.ghosts():
        said = translate("Chart", "Ghosts are joined of {0} forecasts; errors are for {0} candles").format(other)
    else:
        said = translate("Chart", "Forecasts and their errors are for {0} candles").format(other)
    row = (Span(said, frame.palette.ghost_text),)
    size = box_size((row,), frame.fonts)
    left = max(frame.layout.plot_right - size.width() - frame.scaled(6), 0)
    top = max(frame.layout.price_top - size.height(), 0)
    return Box(QRect(QPoint(left, top), size), (row,), frame.palette.raised, frame.palette.border)


def _area(frame: Frame, ghosts: tuple[PlacedGhost, ...]) -> QRect:
    """From the newest closed candle's column to past the last ghost."""
    if not ghosts:
        return QRect()
    left, right = frame.x(ghosts[0].index - 1), frame.x(ghosts[-1].index + 1)
    return QRect(QPoint(left, 0), QPoint(right, frame.layout.main_bottom - 1)).intersected(frame.layout.main)


def _paint_forecast(painter: QPainter, frame: Frame, model: ChartModel, ghosts: tuple[PlacedGhost, ...]) -> None:
    """Bands first, ghosts on them; all of it dimmed where candles have closed since it was made, and where it was made
    of an input unlike any before."""
    if model.forecast_age or model.forecast_oddity:
        painter.setOpacity(_DIMMED)
    if frame.style.shows_bands:
        _paint_bands(painter, frame, model, ghosts)
    if frame.style.shows_volume:
        _paint_volumes(painter, frame, ghosts)
    _paint_ghosts(painter, frame, model, ghosts)
    painter.setOpacity(1.0)
    _paint_divider(painter, frame, model)


def _paint_bands(painter: QPainter, frame: Frame, model: ChartModel, ghosts: tuple[PlacedGhost, ...]) -> None:
    """They fade the further ahead they are. Qt writes no gradient of a pen into an SVG drawing, and misplaces that of a
    brush: there they fade by steps too small to see."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    paint = _paint_steps if painter.paintEngine().type() is QPaintEngine.Type.SVG else _paint_gradient
    for percent, colour in ((90, frame.palette.band_90), (50, frame.palette.band_50)):
        lower, upper = _band_edges(frame, model, ghosts, percent)
        if not lower:
            continue
        edge = QColor(colour)
        edge.setAlpha(_EDGE_ALPHA)
        paint(painter, lower, upper, colour, QPen(edge, frame.pixel))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_gradient(painter: QPainter, lower: list[QPointF], upper: list[QPointF], colour: QColor, edge: QPen) -> None:
    span = lower[0].x(), lower[-1].x()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_fading(colour, span))
    painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
    painter.setPen(QPen(_fading(edge.color(), span), edge.widthF()))
    painter.drawPolyline(QPolygonF(upper))
    painter.drawPolyline(QPolygonF(lower))


def _paint_steps(painter: QPainter, lower: list[QPointF], upper: list[QPointF], colour: QColor, edge: QPen) -> None:
    edge.setCapStyle(Qt.PenCapStyle.FlatCap)
    bounds = np.linspace(lower[0].x(), lower[-1].x(), _STEPS + 1).tolist()
    for number, (left, right) in enumerate(pairwise(bounds)):
        below, above = (_part_of(points, left, right) for points in (lower, upper))
        share = (number + 0.5) / _STEPS
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_faded(colour, share))
        painter.drawPolygon(QPolygonF([*above, *reversed(below)]))
        pen = QPen(edge)
        pen.setColor(_faded(edge.color(), share))
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(above))
        painter.drawPolyline(QPolygonF(below))


def _part_of(points: list[QPointF], left: float, right: float) -> list[QPointF]:
    """The part of a line that lies between two columns."""
    xs, ys = [point.x() for point in points], [point.y() for point in points]
    inside = [point for point in points if left < point.x() < right]
    first, last = (QPointF(x, float(np.interp(x, xs, ys))) for x in (left, right))
    return [first, *inside, last]


def _fading(colour: QColor, span: tuple[float, float]) -> QBrush:
    gradient = QLinearGradient(span[0], 0.0, max(span[1], span[0] + 1.0), 0.0)
    gradient.setColorAt(0.0, colour)
    gradient.setColorAt(1.0, _faded(colour, 1.0))
    return QBrush(gradient)


def _faded(colour: QColor, share: float) -> QColor:
    """As it is at a share of a band's length."""
    faded = QColor(colour)
    faded.setAlphaF(colour.alphaF() * (1.0 + (_FADED - 1.0) * share))
    return faded


def _band_edges(
    frame: Frame, model: ChartModel, ghosts: tuple[PlacedGhost, ...], percent: int
) -> tuple[list[QPointF], list[QPointF]]:
    """Lower and upper edge, from the origin's close to half a candle past the last ghost."""
    lower: list[QPointF] = []
    upper: list[QPointF] = []
    if ghosts[0].ahead == 1 and model.forecast is not None and model.other_interval is None:
        origin = QPointF(frame.x(ghosts[0].index - 1), frame.y(model.forecast.origin_close))
        lower, upper = [origin], [origin]
    for placed in ghosts:
        edges = band(placed.ghost, percent)
        if edges is None:
            return [], []
        # Half a pixel in: with antialiasing a point is a corner between pixels.
        x = frame.x(placed.index) + 0.5
        lower.append(QPointF(x, frame.y(edges[0]) + 0.5))
        upper.append(QPointF(x, frame.y(edges[1]) + 0.5))
    half = QPointF(frame.spacing / 2, 0.0)
    return [*lower, lower[-1] + half], [*upper, upper[-1] + half]


def _paint_volumes(painter: QPainter, frame: Frame, ghosts: tuple[PlacedGhost, ...]) -> None:
    bottom = frame.layout.main_bottom - 1
    for placed in ghosts:
        if placed.ghost.volume <= 0:
            continue
        left, right = _body_columns(frame, placed.index, frame.widths)
        top = frame.volume_y(placed.ghost.volume)
        colour = QColor(_colour(frame, placed))
        colour.setAlpha(_VOLUME_ALPHA)
        fill_rects(painter, rects(left, min(top, bottom), right, bottom), colour)


def _paint_ghosts(painter: QPainter, frame: Frame, model: ChartModel, ghosts: tuple[PlacedGhost, ...]) -> None:
    for placed in ghosts:
        widths = frame.widths
        if model.forming is not None and placed.index == model.count:
            widths = _framing(frame)
        _paint_ghost(painter, frame, placed, widths)


def _paint_ghost(painter: QPainter, frame: Frame, placed: PlacedGhost, widths: CandleWidths) -> None:
    """A whole candle: wick and body of its colour, the body framed where it is wide enough to show what is within."""
    ghost, colour = placed.ghost, _colour(frame, placed)
    left, right = _body_columns(frame, placed.index, widths)
    top, bottom = sorted((frame.y(ghost.open), frame.y(ghost.close)))
    bottom = max(bottom, top + 2 * frame.pixel)
    wick = frame.x(placed.index) - widths.wick // 2
    high, low = frame.y(ghost.high), frame.y(ghost.low)
    last = wick + widths.wick - 1
    wicks = [(wick, high, last, top - 1)] * (high < top) + [(wick, bottom + 1, last, low)] * (low > bottom)
    fill_rects(painter, np.array(wicks, dtype=np.int32).reshape(-1, FIELDS), colour)
    body = QRect(QPoint(left, top), QPoint(right, bottom))
    is_framed = body.width() >= _NARROWEST_FRAMED_PX * frame.pixel and body.height() > _FLATTEST_FRAMED_PX * frame.pixel
    fill = QColor(colour)
    if is_framed:
        fill.setAlpha(_RISING_ALPHA if ghost.close >= ghost.open else _FALLING_ALPHA)
        inside = body.adjusted(frame.pixel, frame.pixel, -frame.pixel, -frame.pixel)
        fill_rects(painter, outline(body, frame.pixel), colour)
        body = inside
    fill_rects(painter, rects(body.left(), body.top(), body.right(), body.bottom()), fill)


def _framing(frame: Frame) -> CandleWidths:
    """Widths for the ghost behind the forming candle: its frame shows on both sides."""
    wick = frame.widths.wick
    most = max(int(frame.spacing) - frame.pixel, frame.widths.body)
    body = min(frame.widths.body + 2 * max(2 * frame.pixel, frame.widths.body // 4), most)
    return CandleWidths(body - (body - wick) % 2, wick)


def _body_columns(frame: Frame, index: int, widths: CandleWidths) -> tuple[int, int]:
    left = frame.x(index) - widths.wick // 2 - (widths.body - widths.wick) // 2
    return left, left + widths.body - 1


def _colour(frame: Frame, placed: PlacedGhost) -> QColor:
    return frame.palette.ghost(placed.ghost.close >= placed.ghost.open)


def _paint_divider(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    x = divider_x(frame, model)
    if not 0 <= x < frame.layout.plot_right:
        return
    pen = QPen(frame.palette.divider, frame.pixel)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    pen.setDashPattern([3.0, 2.0])
    painter.setPen(pen)
    painter.drawLine(x, 0, x, frame.layout.main_bottom)
