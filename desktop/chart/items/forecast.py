"""The forecast: ghosts, their fading bands and the divider, in their own hues; and some sample paths behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QBrush, QColor, QLinearGradient, QPaintEngine, QPainter, QPen, QPolygonF

from desktop.chart.data.ghosts import PlacedGhost, band
from desktop.chart.data.model import ChartModel
from desktop.chart.labels.forecast import divider_x
from desktop.chart.painting.geometry import candle_rect, volume_rect
from desktop.chart.painting.primitives import (
    FLATTEST_FRAMED_PX,
    CachedPixels,
    dashed_pen,
    draw_polyline,
    fill_rects,
    outline,
)
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.panes.layer import Layer
from desktop.chart.picture import Picture
from desktop.ui.formatting import format_count, format_price
from desktop.ui.theme import mixed, with_alpha
from desktop.ui.translation import translate

_RISING_ALPHA = 120
_FALLING_ALPHA = 235
"""Opacity of a framed body: lighter if it rises, for users who cannot tell the two colours apart."""
_VOLUME_ALPHA = 70
_EDGE_ALPHA = 110
_FADED = 0.3
"""Share of a band's colour left at its far end."""
_STEPS = 32
"""Steps of a band that fades without a gradient."""
_DIMMED = 0.45
_NARROWEST_FRAMED_PX = 5
_BELOW_GHOSTS_Z = 5.0
_INK = 0.35
"""Share of the paths' colour in the background."""


class ForecastItem(ChartItem):
    """Ghosts with their bands, and the divider before them. Cached separately: they change while the closed candles do
    not."""

    pane, z = PRICE_PANE, 10.0

    surface: Picture

    def __init__(self) -> None:
        super().__init__()
        self.pixels = CachedPixels()

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if not self.surface.is_cached:
            _paint_ahead(painter, frame, model)
            return
        nothing, paint = QColor(Qt.GlobalColor.transparent), partial(_paint_ahead, frame=frame, model=model)
        self.pixels.update(self.surface.forecast_key, partial(_area, frame, model), nothing, paint)
        self.pixels.draw(painter, self.surface.wanted)


def _area(frame: Frame, model: ChartModel) -> QRect:
    """The area from the newest closed candle's column to past the last ghost."""
    ghosts = model.ghosts()
    if not ghosts:
        return QRect()
    left, right = frame.x(ghosts[0].index - 1), frame.x(ghosts[-1].index + 1)
    ahead = QRect(QPoint(left, 0), QPoint(right, frame.layout.main_bottom - 1))
    return ahead.intersected(frame.price_pane.rect)


def _paint_ahead(painter: QPainter, frame: Frame, model: ChartModel) -> None:
    """Bands, then ghosts; all dimmed if the forecast is old."""
    ghosts = model.ghosts()
    if not ghosts:
        return
    if model.is_forecast_old:
        painter.setOpacity(_DIMMED)
    if frame.style.shows_bands:
        _paint_bands(painter, frame, model, ghosts)
    _paint_ghosts(painter, frame, model, model.drawn_ghosts(along_path=frame.style.shows_paths))
    painter.setOpacity(1.0)
    x = divider_x(frame, model)
    if 0 <= x < frame.layout.plot_right:
        painter.setPen(dashed_pen(frame.palette.divider, frame.pixel, [3.0, 2.0]))
        painter.drawLine(x, 0, x, frame.layout.main_bottom)


def _paint_bands(painter: QPainter, frame: Frame, model: ChartModel, ghosts: tuple[PlacedGhost, ...]) -> None:
    """Paint bands that fade with distance. Qt writes no pen gradients into SVG and misplaces brush gradients: there the
    bands fade in steps too small to see."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    paint = _paint_steps if painter.paintEngine().type() is QPaintEngine.Type.SVG else _paint_gradient
    for percent, colour in ((90, frame.palette.band_90), (50, frame.palette.band_50)):
        lower, upper = _band_edges(frame, model, ghosts, percent)
        if not lower:
            continue
        paint(painter, lower, upper, colour, QPen(with_alpha(colour, _EDGE_ALPHA), frame.pixel))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)


def _paint_gradient(painter: QPainter, lower: list[QPointF], upper: list[QPointF], colour: QColor, edge: QPen) -> None:
    span = lower[0].x(), lower[-1].x()
    pen = QPen(_fading(edge.color(), span), edge.widthF())
    _paint_between(painter, lower, upper, _fading(colour, span), pen)


def _paint_steps(painter: QPainter, lower: list[QPointF], upper: list[QPointF], colour: QColor, edge: QPen) -> None:
    edge.setCapStyle(Qt.PenCapStyle.FlatCap)
    bounds = np.linspace(lower[0].x(), lower[-1].x(), _STEPS + 1).tolist()
    for number, (left, right) in enumerate(pairwise(bounds)):
        below, above = (_part_of(points, left, right) for points in (lower, upper))
        share, pen = (number + 0.5) / _STEPS, QPen(edge)
        pen.setColor(_faded(edge.color(), share))
        _paint_between(painter, below, above, QBrush(_faded(colour, share)), pen)


def _paint_between(painter: QPainter, lower: list[QPointF], upper: list[QPointF], fill: QBrush, edge: QPen) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
    painter.setPen(edge)
    painter.drawPolyline(QPolygonF(upper))
    painter.drawPolyline(QPolygonF(lower))


def _part_of(points: list[QPointF], left: float, right: float) -> list[QPointF]:
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
    """The colour at a share of a band's length."""
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
        # Half a pixel in: with antialiasing, points lie on the corners of pixels.
        x = frame.x(placed.index) + 0.5
        lower.append(QPointF(x, frame.y(edges[0]) + 0.5))
        upper.append(QPointF(x, frame.y(edges[1]) + 0.5))
    half = QPointF(frame.spacing / 2, 0.0)
    return [*lower, lower[-1] + half], [*upper, upper[-1] + half]


def _paint_ghosts(painter: QPainter, frame: Frame, model: ChartModel, ghosts: tuple[PlacedGhost, ...]) -> None:
    for placed in ghosts:
        ghost, centre, widths = placed.ghost, frame.x(placed.index), frame.widths
        is_rising = ghost.close >= ghost.open
        colour = frame.palette.ghost(is_rising)
        if frame.style.shows_volume and ghost.volume > 0:
            bar = volume_rect(centre, frame.volumes.y(ghost.volume), frame.layout.main_bottom - 1, widths)
            painter.fillRect(bar, with_alpha(colour, _VOLUME_ALPHA))
        if model.forming is not None and placed.index == model.count:
            widths = frame.widths_around(max(2 * frame.pixel, widths.body // 4))  # the frame shows on both sides
        rows = (frame.y(ghost.open), frame.y(ghost.high), frame.y(ghost.low), frame.y(ghost.close))
        _paint_ghost(painter, frame.pixel, *candle_rect(centre, *rows, widths), colour, is_rising=is_rising)


def _paint_ghost(painter: QPainter, pixel: int, wick: QRect, body: QRect, colour: QColor, *, is_rising: bool) -> None:
    """A candle with wick and body in its colour; the body is framed if it is wide enough to show its fill."""
    body.setHeight(max(body.height(), 2 * pixel + 1))
    for top, bottom in ((wick.top(), body.top() - 1), (body.bottom() + 1, wick.bottom())):
        if top <= bottom:
            painter.fillRect(QRect(wick.left(), top, wick.width(), bottom - top + 1), colour)
    if body.width() >= _NARROWEST_FRAMED_PX * pixel and body.height() > FLATTEST_FRAMED_PX * pixel:
        fill_rects(painter, outline(body, pixel), colour)
        body = body.adjusted(pixel, pixel, -pixel, -pixel)
        colour = with_alpha(colour, _RISING_ALPHA if is_rising else _FALLING_ALPHA)
    painter.fillRect(body, colour)


class FuturesLayer(Layer):
    """Has chances and paths of its forecast computed while it is on a chart."""

    z, is_cached = _BELOW_GHOSTS_Z, False

    def is_waiting(self, model: ChartModel) -> bool:
        return model.other_interval is None and model.futures.is_waiting(model.forecast, model.series)

    def begin(self, model: ChartModel) -> Callable[[], None] | None:
        return model.futures.begin(model.forecast, model.series)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        """Rows below a ghost's figures, which are medians: the body that is drawn instead."""
        placed = None if index is None else model.ghost(index)
        central = model.drawn_path(along_path=frame.style.shows_paths)
        if placed is None or central is None or placed.ahead == 1:
            return ()
        close = format_price(central.ghosts[placed.ahead - 1].close, frame.decimals)
        text = translate("Chart", "Body: the most central of {0} sample paths, to {1}. Figures and bands: the forecast")
        return ((Span(text.format(format_count(central.count), close), frame.palette.muted_text),),)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        """Draw the lines of `Found`, if paths are shown and in view."""
        made, ghosts = model.forecast, model.ghosts()
        if not frame.style.shows_paths or made is None or not ghosts or model.other_interval is not None:
            return
        found = model.futures.of(made, model.series)
        if found is None:
            return
        count, horizons = found.lines.shape
        origin = ghosts[0].index - ghosts[0].ahead
        columns = frame.xs(np.arange(origin, origin + horizons + 1, dtype=np.float64))
        if columns[-1] < 0 or columns[0] >= frame.layout.plot_right:
            return
        prices = made.origin_close * np.exp(np.concatenate([np.zeros((count, 1)), found.lines], axis=1))
        rows = np.full((count, horizons + 2), np.nan)  # the last point breaks the line
        rows[:, :-1] = pane.ys(prices)
        pen = QPen(mixed(frame.palette.ghost_text, frame.palette.background, _INK), frame.ratio)
        draw_polyline(painter, np.tile(np.append(columns, np.nan), count), rows.ravel(), pen)
