"""The background shade: the market regime, as known when each candle closed. Below the candles a strip: the regime that
the model had forecast for each of them one candle earlier."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from PySide6.QtGui import QColor, QPainter

from core.domain.regimes import Regime, RegimeProbabilities
from desktop.chart.data.model import ChartModel
from desktop.chart.painting.primitives import fill_rects, rects
from desktop.chart.painting.text import Row, Span
from desktop.chart.panes.frame import Frame, Pane
from desktop.chart.panes.layer import GROUND_Z, Layer
from desktop.ui import formatting
from desktop.ui.theme import Palette, mixed
from desktop.ui.translation import translate
from desktop.ui.words import word

_SURE = 0.75
"""The probability at which a regime has its full shade."""
_SHARES_DARK = ((0.05, 0.09), (0.08, 0.14), (0.08, 0.14))
_SHARES_LIGHT = ((0.06, 0.1), (0.09, 0.15), (0.09, 0.15))
"""Share of each regime's colour in the background, if likely and if certain. Calm is the usual state."""
_STRIP_SHARES = ((0.5, 0.9), (0.5, 0.9), (0.5, 0.9))
_STRIP_PX = 6


class RegimeLayer(Layer):
    """One rectangle per run of candles of one regime; paler if less certain."""

    z = GROUND_Z

    def key(self, model: ChartModel) -> Hashable:
        return (model.regimes.version, model.other_interval)

    def draw(self, painter: QPainter, frame: Frame, pane: Pane, model: ChartModel) -> None:
        if model.other_interval is not None:
            return
        view = model.regimes.view(model.series, frame.first, frame.stop, frame.group)
        if not len(view):
            return
        likeliest = view.means.argmax(axis=1)
        kinds = 2 * likeliest + (view.means.max(axis=1) >= _SURE)
        begins = np.flatnonzero((np.diff(kinds, prepend=-1) != 0) | (np.diff(view.first, prepend=-1) != frame.group))
        ends = np.append(begins[1:], len(view)) - 1
        stops = np.minimum(view.first[ends] + frame.group, model.count)
        left, right = (frame.xs(edge.astype(np.float64) - 0.5) for edge in (view.first[begins], stops))
        areas = rects(np.maximum(left, 0), pane.top, np.minimum(right, frame.layout.plot_right) - 1, pane.bottom - 1)
        kinds = kinds[begins]
        for kind in set(kinds.tolist()):
            fill_rects(painter, areas[kinds == kind], _shade(frame.palette, kind))

    def rows(self, frame: Frame, model: ChartModel, index: int | None) -> Sequence[Row]:
        """Rows for the candle at `index`, or for the newest closed one if that candle has not closed yet."""
        if model.other_interval is not None:
            return ()
        time_ms = model.time_at(model.count - 1 if index is None else min(index, model.count - 1))
        found = None if time_ms is None else model.regimes.at(time_ms)
        return (regime_row(found, frame.palette),)

    def sample_rows(self, model: ChartModel) -> Sequence[Row]:
        if model.other_interval is not None:
            return ()
        plain = QColor()
        words = [Span(f"{word(regime)} {formatting.format_percent(1.0, 0)}", plain) for regime in Regime]
        return ((Span(translate("Chart", "Regime"), plain, bold=True), *words),)


def regime_row(found: RegimeProbabilities | None, palette: Palette) -> Row:
    """``Regime calm 82 % trending 11 % volatile 7 %``, each in its colour."""
    name = Span(translate("Chart", "Regime"), palette.text, bold=True)
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
