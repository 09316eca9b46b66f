"""Painting on whole device pixels, whatever views do to the places of their items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtGui import QPainter, QTransform
from PySide6.QtWidgets import QGraphicsItem


class DevicePixels:
    """Lets items paint in device pixels of the whole chart; found once for all that are painted together."""

    def __init__(self) -> None:
        self._transform: QTransform | None = None
        self._is_shared = False

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Meanwhile all items are painted by one painter, through one view."""
        self._transform, self._is_shared = None, True
        try:
            yield
        finally:
            self._transform, self._is_shared = None, False

    def use(self, painter: QPainter, item: QGraphicsItem, ratio: float) -> None:
        """Give the painter those units, with edges between pixels at any zoom and on any screen."""
        if self._transform is not None:
            painter.setWorldTransform(self._transform)
            return
        back, _ = item.sceneTransform().inverted()
        painter.setWorldTransform(back * painter.worldTransform())
        painter.scale(1 / ratio, 1 / ratio)
        to_device = painter.deviceTransform()
        painter.translate(round(to_device.dx()) - to_device.dx(), round(to_device.dy()) - to_device.dy())
        if self._is_shared:
            self._transform = painter.worldTransform()
