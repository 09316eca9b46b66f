"""A fresh chart that receives at once what a tortured one received in a thousand pieces."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication

from core.domain.clock import ManualClock
from desktop.chart.items.comparison import ComparisonLayer
from desktop.chart.items.drawings import DrawingsLayer
from desktop.chart.items.forecast import FuturesLayer
from desktop.chart.items.hindsight import HindsightLayer
from desktop.chart.items.indicator import IndicatorLayer
from desktop.chart.items.markers import MarkersLayer
from desktop.chart.items.measure import MeasureLayer
from desktop.chart.items.previews import PreviewLayer
from desktop.chart.items.price_lines import PriceLinesLayer
from desktop.chart.items.regimes import RegimeLayer
from desktop.chart.items.volume_profile import VolumeProfileLayer
from desktop.chart.panes.layer import Layer
from desktop.chart.widget import ChartWidget
from desktop.ui.theme import Theme
from tests.desktop.chart.paint_helpers import picture
from tests.torture.user import move_mouse

_ROUNDING = 6
"""Of 255: an antialiased line is blended up to six steps lighter or darker at a different clip edge. Measured on
thousands of white lines of 1.5 to 4 pixels on black, painted as a whole and in parts."""


def reference_of(chart: ChartWidget, theme: Theme, clock: ManualClock) -> ChartWidget:
    """Shows the same candles in the same view and style. The caller deletes it.

    Copied unchanged: the view, which depends on user input, and values remembered on purpose to keep labels and plot
    still, the decimals of the prices and the width of their axis.
    """
    model, style = chart.model, chart.style_shown
    reference = ChartWidget(theme, clock)
    reference.setFont(chart.font())
    reference.resize(chart.size())
    reference.set_series(model.series, model.title)
    # before an indicator takes over the decimals, which it does once a candle
    reference.model._decimals, reference.model._decimals_version = model._decimals, model._decimals_version
    reference.restyle(**{field.name: getattr(style, field.name) for field in fields(style)})
    reference.heights.chosen = chart.heights.chosen
    for layer in chart._layers:
        reference.add_layer(_like(layer))
    reference.set_forecast(model.forecast)
    reference.set_forming(model.forming)
    reference.model.past, reference.model.regimes = model.past, model.regimes
    reference.model.futures = model.futures
    if model.holes is not None:
        reference.set_holes(model.holes)
    reference.set_note(model.note)
    reference.set_live(chart._countdown._is_live)
    reference.set_empty_text(chart._stage.background.sentence)
    reference.show()
    assert QTest.qWaitForWindowExposed(reference, 60_000)
    reference.flush()
    vars(reference.scale).update(vars(chart.scale))
    if (held := chart._held.range) is not None:
        reference.hold_prices(held)
    reference._picture._builder._axis_width = chart._picture._builder._axis_width
    reference.refresh()
    reference.restyle()
    settle(reference)
    return reference


def _like(layer: Layer) -> Layer:
    """A fresh layer with the same final content. Raises TypeError for an unknown kind."""
    match layer:
        case IndicatorLayer():
            return IndicatorLayer(layer.spec, layer.number, layer.ordinal)
        case HindsightLayer() | RegimeLayer() | VolumeProfileLayer() | FuturesLayer():
            return type(layer)()  # their content is the model's
        case ComparisonLayer():
            comparison = ComparisonLayer()
            comparison.shown = layer.shown
            return comparison
        case PriceLinesLayer():
            lines = PriceLinesLayer()
            lines.shown = layer.shown
            return lines
        case DrawingsLayer():
            drawings = DrawingsLayer()
            drawings.shown = layer.shown
            return drawings
        case MarkersLayer():
            markers = MarkersLayer()
            markers.track, markers.is_visible = layer.track, layer.is_visible
            return markers
        case PreviewLayer():
            previews = PreviewLayer(layer.title)
            previews.show_previews(layer.shown)
            return previews
        case MeasureLayer():
            measure = MeasureLayer()
            measure.shown = layer.shown
            return measure
        case _:
            raise TypeError(f"the reference cannot show {type(layer).__name__}; add it here")


def settle(chart: ChartWidget) -> None:
    """Run pending updates, and paint them."""
    chart.flush()
    QApplication.processEvents()


def keep(pictures: list[NDArray[np.uint32]]) -> None:
    """If GHOSTCANDLE_PICTURES names a folder: saves the chart's picture and the expected one there."""
    if folder := os.environ.get("GHOSTCANDLE_PICTURES"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, pixels in zip(("chart", "reference"), pictures, strict=True):
            data = np.ascontiguousarray(pixels | np.uint32(0xFF000000))
            height, width = data.shape
            image = QImage(data.data, width, height, 4 * width, QImage.Format.Format_RGB32)
            image.save(str(Path(folder) / f"torture-{name}.png"))


def difference(chart: ChartWidget, theme: Theme, clock: ManualClock) -> str:
    """Where the chart's picture differs from its reference's; empty if nowhere. The mouse goes to the middle of
    both."""
    _point_at_middle(chart)  # first: the mouse position changes what layers show
    reference = reference_of(chart, theme, clock)
    try:
        _point_at_middle(reference)
        pictures = [picture(each) for each in (chart, reference)]
    finally:
        reference.close()
        reference.deleteLater()
    return where(pictures)


def _point_at_middle(chart: ChartWidget) -> None:
    for button in chart.findChildren(QAbstractButton):
        button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)  # highlighted by an earlier mouse position
    move_mouse(chart.viewport(), QPoint(chart.width() // 2, chart.height() // 2))
    settle(chart)


def where(pictures: list[NDArray[np.uint32]]) -> str:
    """Where two pictures differ; empty if nowhere."""
    if pictures[0].shape != pictures[1].shape:
        return f"sizes {pictures[0].shape} and {pictures[1].shape}"
    one, other = (each.view(np.uint8).reshape(*each.shape, 4).astype(np.int16) for each in pictures)
    rows, columns = np.nonzero((np.abs(one - other)[..., :3] > _ROUNDING).any(axis=-1))
    if not rows.size:
        return ""
    keep(pictures)
    height, width = pictures[0].shape
    return f"{rows.size} pixels in {columns.min()}..{columns.max()} x {rows.min()}..{rows.max()} of {width} x {height}"
