"""Forecasts of other checkpoints or of single experts, side by side; the current forecast is not among them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QPainter

from core.domain.events import ForecastMade
from desktop.chart.data.ghosts import PlacedGhost, band
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import dashed_pen, fill_rects, outline
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import Layer, View
from desktop.ui.colour_choice import MOST_PREVIEWS, preview_colour
from desktop.ui.theme import with_alpha
from desktop.ui.translation import translate

_FILL_ALPHA = 90
_BAND_ALPHA = 150


@dataclass(frozen=True)
class Preview:
    """One forecast; `label` names the checkpoint or the expert."""

    label: str
    forecast: ForecastMade
    colour: int | None = None
    """The number that chooses its colour; None: its place."""


class PreviewLayer(Layer):
    """Bodies and wicks of several forecasts share each candle's column; dotted lines are their 90 % bands."""

    def __init__(self, title: str = "") -> None:
        """title: precedes the names in the legend; empty: the names are of checkpoints."""
        super().__init__()
        self.title = title or translate("Chart", "Preview, not scored:")
        self.shown: tuple[Preview, ...] = ()

    def show_previews(self, previews: Sequence[Preview]) -> None:
        """Replace the shown previews; at most `MOST_PREVIEWS`."""
        self.shown = tuple(previews[:MOST_PREVIEWS])

    def key(self, model: ChartModel) -> Hashable:
        opens_at = None if model.forming is None else model.forming.open_time_ms
        return (*(preview.forecast for preview in self.shown), model.version, opens_at, model.moment)

    def extent(self, view: View, model: ChartModel) -> tuple[float, float] | None:
        """The extent of the previews, if the newest candle is visible."""
        placed = [each.ghost for preview in self.shown for each in _placed(preview.forecast, model)]
        if not placed or view.stop < model.count:
            return None
        return min(ghost.low for ghost in placed), max(ghost.high for ghost in placed)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        for number, preview in enumerate(self.shown):
            ghosts = _placed(preview.forecast, model)
            colour = self.colour(frame, number)
            edges = [(frame.x(each.index), found) for each in ghosts if (found := band(each.ghost, 90)) is not None]
            painter.setPen(dashed_pen(with_alpha(colour, _BAND_ALPHA), frame.pixel, [2.0, 2.0]))
            for side in (0, 1):
                painter.drawPolyline([QPoint(x, frame.y(found[side])) for x, found in edges])
            for placed in ghosts:
                _paint_ghost(painter, frame, placed, _columns(frame, placed.index, number, len(self.shown)), colour)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        colours = [self.colour(frame, number) for number in range(len(self.shown))]
        return self._words(model, frame.palette.muted_text, colours)

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        """Constant while there are previews: the forecast's label is placed below these rows."""
        return self._words(model, QColor(), [QColor()] * len(self.shown))

    def _words(self, model: ChartModel, muted: QColor, colours: Sequence[QColor]) -> Sequence[Row]:
        if not self.shown or model.moment is not None:
            return ()
        named = zip(self.shown, colours, strict=True)
        what = Span(self.title, muted)
        return ((what, *(Span(f" {preview.label}", colour) for preview, colour in named)),)

    def colour(self, frame: Frame, number: int) -> QColor:
        chosen = self.shown[number].colour
        return preview_colour(frame.palette, number if chosen is None else chosen)


def _placed(forecast: ForecastMade, model: ChartModel) -> tuple[PlacedGhost, ...]:
    """A preview's ghosts that have not closed yet; none at another interval or while a past moment is shown."""
    if not forecast.ghosts or model.moment is not None:
        return ()
    if forecast.ghosts[0].open_time_ms - forecast.origin_open_time_ms != model.series.interval.duration_ms:
        return ()
    return model.placed(forecast.ghosts)


def _columns(frame: Frame, index: int, number: int, count: int) -> tuple[int, int]:
    """First and last pixel column of one forecast's body: the previews share the candle's slot."""
    slot = max(int(frame.spacing * 0.84), count)
    left = frame.x(index) - slot // 2 + number * slot // count
    right = frame.x(index) - slot // 2 + (number + 1) * slot // count - 1
    gap = frame.pixel if count > 1 and right - left > 3 * frame.pixel else 0
    return left, max(right - gap, left)


def _paint_ghost(
    painter: QPainter, frame: Frame, placed: PlacedGhost, columns: tuple[int, int], colour: QColor
) -> None:
    ghost, (left, right) = placed.ghost, columns
    top, bottom = sorted((frame.y(ghost.open), frame.y(ghost.close)))
    high, low = frame.y(ghost.high), frame.y(ghost.low)
    body = QRect(QPoint(left, top), QPoint(right, max(bottom, top + frame.pixel - 1)))
    painter.fillRect((left + right) // 2, high, frame.pixel, low - high + 1, colour)
    painter.fillRect(body, frame.palette.background)
    painter.fillRect(body, with_alpha(colour, _FILL_ALPHA if ghost.close >= ghost.open else 255))
    fill_rects(painter, outline(body, frame.pixel), colour)
