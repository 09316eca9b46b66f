"""The chart as it stands, without mouse and selection, as pixels or as a drawing."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QImage, QPainter

from desktop.chart.widget import ChartWidget


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
        return bytes(SVGExporter(chart.scene()).export(toBytes=True))
