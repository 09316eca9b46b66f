"""The background shade: the market regime, as known when each candle closed. At the bottom of the prices a strip: the
regime that the model had forecast for each candle one candle earlier, and for the next one."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QColor, QPainter

from core.domain.regimes import Regime, RegimeProbabilities
from desktop.chart.data.model import ChartModel
from desktop.chart.data.regimes import RegimeView
from desktop.chart.painting.primitives import Rects, fill_rects, rects
from desktop.chart.painting.text import Box, Row, Span, box_size, paint_box
from desktop.chart.panes.frame import PRICE_PANE, Frame, Pane
from desktop.chart.panes.item import ChartItem
from desktop.chart.panes.layer import GROUND_Z, OVER_CANDLES_Z, Layer, PlotLabel
from desktop.ui import formatting
from desktop.ui.theme import Palette, mixed
from desktop.ui.translation import translate
from desktop.ui.words import word

_SURE = 0.75
"""The probability at which a regime has its full shade."""
_SHARES_DARK = ((0.05, 0.09), (0.08, 0.14), (0.08, 0.14))
_SHARES_LIGHT = ((0.06, 0.1), (0.09, 0.15), (0.09, 0.15))
"""Share of each regime's colour in the background, if likely and if certain. Calm is the usual state."""
_STRIP_SHARES = (0.45, 0.9)
"""The same in the strip, which lies behind nothing."""
_STRIP_PX = 6


class RegimeLayer(Layer):
    """One rectangle per run of candles of one regime; paler if less certain."""

    z = GROUND_Z

    def __init__(self) -> None:
        super().__init__()
        self._strip = _ForecastStrip()

    def items(self) -> tuple[ChartItem, ...]:
        return self, self._strip

    def key(self, model: ChartModel) -> Hashable:
        return (model.regimes.version, model.other_interval)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if model.other_interval is not None:
            return
        view = model.regimes.view(model.series, frame.first, frame.stop, frame.group)
        areas, kinds = _areas(frame, model, view.first, view.means, pane.top, pane.bottom - 1)
        for kind in set(kinds.tolist()):
            fill_rects(painter, areas[kinds == kind], _shade(frame.palette, kind))

    def plot_labels(self, frame: Frame, model: ChartModel, taken: Sequence[QRect]) -> Sequence[PlotLabel]:
        """What the strip is, at its left end."""
        if model.other_interval is not None or not np.isfinite(_in_view(frame, model).forecasts).any():
            return ()
        row: Row = (Span(translate("Chart", "Regime forecast by the model"), frame.palette.muted_text),)
        size = box_size((row,), frame.fonts)
        corner = QPoint(0, frame.layout.main_bottom - frame.scaled(_STRIP_PX) - size.height())
        box = Box(QRect(corner, size), (row,), frame.palette.background)
        if any(box.rect.intersects(area) for area in taken):
            return ()
        return (PlotLabel(box.rect, row, partial(paint_box, box=box, fonts=frame.fonts)),)

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        """Rows for the candle at `index`, or for the newest closed one if that candle has not closed yet: its regime,
        and what the model had forecast for it, or forecasts for the next one."""
        if model.other_interval is not None:
            return ()
        is_closed = index is not None and index < model.count
        time_ms = model.time_at(index if index is not None and is_closed else model.count - 1)
        found = None if time_ms is None else model.regimes.at(time_ms)
        now = _row(translate("Chart", "Regime"), found, frame.palette)
        if time_ms is None or not model.regimes.has_forecasts:
            return (now,)
        before_ms = time_ms - model.series.interval.duration_ms if is_closed else time_ms
        forecast = model.regimes.next_after(before_ms)
        return now, _row(_forecast_name(is_closed=is_closed), forecast, frame.palette)

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        if model.other_interval is not None:
            return ()
        plain = QColor()
        words = [Span(f"{word(regime)} {formatting.format_percent(1.0, 0)}", plain) for regime in Regime]
        names = [translate("Chart", "Regime")]
        if model.regimes.has_forecasts:
            names.append(max((_forecast_name(is_closed=each) for each in (False, True)), key=len))
        return [(Span(name, plain, bold=True), *words) for name in names]


class _ForecastStrip(ChartItem):
    """One rectangle per run of candles of one forecast regime. A forecast made at a candle lies over the next one."""

    pane, z, is_cached = PRICE_PANE, OVER_CANDLES_Z, True

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if model.other_interval is not None:
            return
        view = _in_view(frame, model)
        is_shown = np.isfinite(view.forecasts[:, 0]) & ~_is_before_gap(model, view.first)
        top = pane.bottom - frame.scaled(_STRIP_PX)
        shown = view.first[is_shown], view.forecasts[is_shown]
        areas, kinds = _areas(frame, model, *shown, top, pane.bottom - 1, ahead=1)
        for kind in set(kinds.tolist()):
            regime, is_sure = divmod(kind, 2)
            colour = mixed(frame.palette.regimes[regime], frame.palette.background, _STRIP_SHARES[is_sure])
            fill_rects(painter, areas[kinds == kind], colour)


def _in_view(frame: Frame, model: ChartModel) -> RegimeView:
    """With the candle before the first: its forecast is of the first."""
    return model.regimes.view(model.series, max(frame.first - 1, 0), frame.stop, frame.group)


def _is_before_gap(model: ChartModel, index: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether the candle after each of these is not the next of the market."""
    times, last = model.series.open_time_ms, model.count - 1
    passed_ms = times[np.minimum(index + 1, last)] - times[index]
    found: NDArray[np.bool_] = (index < last) & (passed_ms != model.series.interval.duration_ms)
    return found


def _areas(
    frame: Frame,
    model: ChartModel,
    first: NDArray[np.int64],
    probabilities: NDArray[np.float64],
    top: int,
    bottom: int,
    ahead: int = 0,
) -> tuple[Rects, NDArray[np.int64]]:
    """A rectangle for each run of candles of one kind, and its kind: twice the likeliest regime, plus 1 if it is sure.
    first, probabilities: of groups of candles, as in `RegimeView`. ahead: candles by which they are shifted."""
    kinds = 2 * probabilities.argmax(axis=1) + (probabilities.max(axis=1) >= _SURE)
    begins = np.flatnonzero((np.diff(kinds, prepend=-1) != 0) | (np.diff(first, prepend=-1) != frame.group))
    ends = np.append(begins, len(first))[1:] - 1
    stops = np.minimum(first[ends] + frame.group, model.count)
    left, right = (frame.xs(edge.astype(np.float64) + ahead - 0.5) for edge in (first[begins], stops))
    areas = rects(np.maximum(left, 0), top, np.minimum(right, frame.layout.plot_right) - 1, bottom)
    return areas, kinds[begins]


def _forecast_name(*, is_closed: bool) -> str:
    return translate("Chart", "Model expected") if is_closed else translate("Chart", "Model expects next")


def _row(title: str, found: RegimeProbabilities | None, palette: Palette) -> Row:
    """``Regime calm 82 % trending 11 % volatile 7 %``, each in its colour."""
    name = Span(title, palette.text, bold=True)
    if found is None:
        return name, Span(translate("Chart", "not known here"), palette.muted_text)
    likeliest = found.likeliest
    return name, *(
        Span(
            f"{word(regime)} {formatting.format_percent(found.of(regime), 0)}",
            colour if regime is likeliest else palette.muted_text,
            bold=regime is likeliest,
        )
        for regime, colour in zip(Regime, palette.regimes, strict=True)
    )


def _shade(palette: Palette, kind: int) -> QColor:
    """Opaque, because that fills many times faster."""
    regime, is_sure = divmod(kind, 2)
    shares = _SHARES_DARK if palette.is_dark else _SHARES_LIGHT
    return mixed(palette.regimes[regime], palette.background, shares[regime][is_sure])
