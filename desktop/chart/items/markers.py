"""Markers of training events at the bottom of the prices: an incident, a new best checkpoint, a restore, a rollback."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

from desktop.chart.data.model import ChartModel
from desktop.chart.labels.readout import tip
from desktop.chart.painting.text import Box, Row, Span, wrapped
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import Layer
from desktop.ui import formatting
from desktop.ui.icons import glyph, glyph_font
from desktop.ui.theme import Palette, with_alpha
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SIDE_PX = 15
_GAP_PX = 1
_FOOT_PX = 2
_MOST_STACKED = 3
_MOST_LISTED = 4
_TEXT_CHARACTERS = 52
_HALO_ALPHA = 215


class MarkerKind(IntEnum):
    """Kinds in stacking order, the most important at the bottom."""

    ERROR = 0
    ROLLBACK = 1
    WARNING = 2
    BEST = 3
    RESTORE = 4
    INFO = 5


_LOOKS = {
    MarkerKind.ERROR: ("alert-circle", "bad", QT_TRANSLATE_NOOP("Chart", "Error")),
    MarkerKind.ROLLBACK: ("arrow-u-left-top-bold", "bad", QT_TRANSLATE_NOOP("Chart", "Rollback")),
    MarkerKind.WARNING: ("alert", "warning", QT_TRANSLATE_NOOP("Chart", "Warning")),
    MarkerKind.BEST: ("trophy", "good", QT_TRANSLATE_NOOP("Chart", "New best")),
    MarkerKind.RESTORE: ("backup-restore", "accent", QT_TRANSLATE_NOOP("Chart", "Restore")),
    MarkerKind.INFO: ("information", "muted_text", QT_TRANSLATE_NOOP("Chart", "Incident")),
}
"""Glyph, colour of the palette, and title; incidents have the colour of their severity."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One event. `source` is the record to open on a click."""

    time_ms: int
    """Any time within its candle."""
    kind: MarkerKind
    sentence: str
    source: object


@dataclass(frozen=True, slots=True)
class MarkerGroup:
    """The markers of one candle, or of several that are too narrow to separate; the most important first."""

    index: float
    """Index, between the first and the last candle of the group."""
    markers: tuple[Marker, ...]


class MarkerTrack:
    """Markers by time. Visible ones are found by binary search."""

    def __init__(self, markers: Iterable[Marker] = ()) -> None:
        self._markers = sorted(markers, key=lambda marker: marker.time_ms)
        self._times = np.array([marker.time_ms for marker in self._markers], dtype=np.int64)

    def __len__(self) -> int:
        return len(self._markers)

    def groups(self, model: ChartModel, first: float, last: float, apart: float) -> list[MarkerGroup]:
        """Groups between two indices, about `apart` candles from each other.

        Groups begin at multiples of a power of two, so that panning does not regroup them.
        """
        start, indices = self._between(model, first, last)
        slot = 1 if apart <= 1.0 else 1 << int(np.ceil(np.log2(apart)))
        slots = indices // slot
        edges = np.flatnonzero(np.diff(slots)) + 1
        bounds = [0, *edges.tolist(), indices.size] if indices.size else []
        groups = []
        for begin, end in pairwise(bounds):
            members = sorted(self._markers[start + begin : start + end], key=lambda marker: marker.kind)
            groups.append(MarkerGroup(float(indices[begin] + indices[end - 1]) / 2.0, tuple(members)))
        return groups

    def _between(self, model: ChartModel, first: float, last: float) -> tuple[int, NDArray[np.int64]]:
        """The position of the first marker in a range, and the indices of the markers' candles."""
        nothing = (0, np.empty(0, dtype=np.int64))
        series, opens_next = model.series, model.time_at(model.count)
        if opens_next is None or last < 0:
            return nothing
        begin_ms, end_ms = model.time_at(max(int(first), 0)), model.time_at(min(int(last) + 1, model.count))
        assert begin_ms is not None and end_ms is not None
        stop_ms = end_ms + series.interval.duration_ms
        if model.moment is not None:
            stop_ms = min(stop_ms, model.moment.time_ms)
        start, stop = np.searchsorted(self._times, (begin_ms, stop_ms))
        if start >= stop:
            return nothing
        times = self._times[start:stop]
        indices = np.searchsorted(series.open_time_ms, times, side="right").astype(np.int64) - 1
        indices[times >= opens_next] = model.count
        return int(start), indices


@dataclass(frozen=True)
class _Cell:
    """One mark of a stack, or the number of marks that do not fit."""

    rect: QRect
    marker: Marker
    group: MarkerGroup
    more: int = 0


class MarkersLayer(Layer):
    """Painted and cached with the closed candles, so that a tick draws no marker."""

    def __init__(self) -> None:
        super().__init__()
        self.track = MarkerTrack()
        self.is_visible = True
        self._cells: list[_Cell] = []
        self._cells_key: tuple[object, ...] | None = None
        self._stamps: dict[MarkerKind, QPixmap] = {}
        self._stamps_key: tuple[object, ...] | None = None

    def key(self, model: ChartModel) -> Hashable:
        return self.track, self.is_visible, model.time_at(model.count)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        stamps = self._stamps_for(frame)
        painter.setFont(frame.fonts.bold)
        for cell in self._cells_of(frame, model):
            if cell.more:
                painter.fillRect(cell.rect, _halo(frame))
                painter.setPen(frame.palette.text)
                painter.drawText(cell.rect, Qt.AlignmentFlag.AlignCenter, f"+{cell.more}")
            else:
                painter.drawPixmap(cell.rect.topLeft(), stamps[cell.marker.kind])

    def marker_at(self, frame: Frame, model: ChartModel, pixel: QPoint) -> Marker | None:
        cell = self._cell_at(frame, model, pixel)
        return None if cell is None else cell.marker

    def tooltip(self, frame: Frame, model: ChartModel, cursor: QPoint) -> Box | None:
        cell = self._cell_at(frame, model, cursor)
        return None if cell is None else tip(frame, cursor, _rows(cell, frame), is_table=True)

    def _cell_at(self, frame: Frame, model: ChartModel, pixel: QPoint) -> _Cell | None:
        return next((cell for cell in self._cells_of(frame, model) if cell.rect.contains(pixel)), None)

    def _cells_of(self, frame: Frame, model: ChartModel) -> list[_Cell]:
        key = (frame, model.version, self.key(model))
        if key != self._cells_key:
            self._cells_key = key
            self._cells = self._laid_out(frame, model) if self.is_visible else []
        return self._cells

    def _laid_out(self, frame: Frame, model: ChartModel) -> list[_Cell]:
        side, gap = frame.scaled(_SIDE_PX), frame.scaled(_GAP_PX)
        foot = frame.layout.price_bottom - frame.scaled(_FOOT_PX)
        cells = []
        for group in self.track.groups(model, frame.left - 1, frame.right + 1, (side + gap) / frame.spacing):
            left = round(frame.exact_x(group.index)) - side // 2
            hidden = len(group.markers) - _MOST_STACKED
            drawn = group.markers if hidden <= 0 else group.markers[: _MOST_STACKED - 1]
            for level, marker in enumerate(drawn):
                cells.append(_Cell(QRect(left, foot - (level + 1) * (side + gap), side, side), marker, group))
            if hidden > 0:
                rest = len(group.markers) - len(drawn)
                area = QRect(left - side // 4, foot - _MOST_STACKED * (side + gap), side + side // 2, side)
                cells.append(_Cell(area, group.markers[len(drawn)], group, rest))
        return cells

    def _stamps_for(self, frame: Frame) -> dict[MarkerKind, QPixmap]:
        key = (id(frame.palette), frame.ratio)
        if key != self._stamps_key:
            self._stamps_key = key
            self._stamps = {kind: _stamp(kind, frame) for kind in MarkerKind}
        return self._stamps


def _colour(kind: MarkerKind, palette: Palette) -> QColor:
    colour: QColor = getattr(palette, _LOOKS[kind][1])
    return colour


def _stamp(kind: MarkerKind, frame: Frame) -> QPixmap:
    """The glyph on a background that separates it from candles."""
    side = frame.scaled(_SIDE_PX)
    pixmap = QPixmap(QSize(side, side))
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_halo(frame))
    painter.drawEllipse(QRectF(0, 0, side, side))
    painter.setFont(glyph_font(round(side * 0.86)))
    painter.setPen(_colour(kind, frame.palette))
    painter.drawText(pixmap.rect(), Qt.AlignmentFlag.AlignCenter, glyph(_LOOKS[kind][0]))
    painter.end()
    return pixmap


def _halo(frame: Frame) -> QColor:
    return with_alpha(frame.palette.background, _HALO_ALPHA)


def _rows(cell: _Cell, frame: Frame) -> list[Row]:
    """The marker under the cursor first, then the others of its group."""
    listed = [cell.marker, *(marker for marker in cell.group.markers if marker is not cell.marker)]
    widest = frame.fonts.metrics.averageCharWidth() * _TEXT_CHARACTERS
    rows: list[Row] = []
    for marker in listed[:_MOST_LISTED]:
        colour = _colour(marker.kind, frame.palette)
        when = formatting.format_time(marker.time_ms, frame.time_zone)
        rows.append(
            (Span(translate("Chart", _LOOKS[marker.kind][2]), colour, bold=True), Span(when, frame.palette.muted_text))
        )
        rows += wrapped((Span(marker.sentence, frame.palette.text),), frame.fonts, widest)
    if len(listed) > _MOST_LISTED:
        more = translate("Chart", "and {0} more").format(len(listed) - _MOST_LISTED)
        rows.append((Span(more, frame.palette.muted_text),))
    return rows
