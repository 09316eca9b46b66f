"""The chart as it stands, without mouse and selection, as pixels or as a drawing."""

from __future__ import annotations

import re

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from desktop.chart.widget import ChartWidget

_CLIP = re.compile(rb"(<clipPath\b[^>]*>\s*<path)\b")
"""What pyqtgraph cuts a pane to. Readers of SVG Tiny, such as Qt's, know no such thing, and would draw its outline with
the pen of the group that it stands in: black."""


def image_of(chart: ChartWidget) -> QImage:
    """In device pixels."""
    ratio = chart.devicePixelRatioF()
    image = QImage(chart.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    painter = QPainter(image)
    with chart.at_rest():
        chart.render(painter, QRectF(chart.rect()), chart.rect())
    painter.end()
    return image


def svg_of(chart: ChartWidget) -> bytes:
    """By pyqtgraph's exporter, which has each item draw itself."""
    from pyqtgraph.exporters import SVGExporter  # noqa: PLC0415 - seldom wanted, and it brings all exporters

    with chart.at_rest():
        drawing = bytes(SVGExporter(chart.scene()).export(toBytes=True))
    return _CLIP.sub(rb'\1 stroke="none"', drawing)
