"""What layers cannot make within a frame is made between frames, a piece a turn of the event loop."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot

from desktop.chart.data.model import ChartModel
from desktop.chart.panes.layer import LayerSet

_REST_MS = 2
"""Between turns: who never rests is made to wait by the system when others want the core, frames and all."""


class IdleWork(QObject):
    """Goes on until no layer waits any more. Every turn lets what else has come, frames and mouse, go first."""

    def __init__(self, layers: LayerSet, model: ChartModel, on_made: Callable[[], None], parent: QObject) -> None:
        """on_made: called when a layer has all that it waited for."""
        super().__init__(parent)
        self._layers, self._model, self._on_made = layers, model, on_made
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._turn)

    def look(self) -> None:
        """Begin, where a layer waits for something."""
        if not self._timer.isActive() and self._layers.waiting(self._model) is not None:
            self._timer.start(_REST_MS)

    @Slot()
    def _turn(self) -> None:
        layer = self._layers.waiting(self._model)
        if layer is None:
            return
        layer.work(self._model)
        if not layer.is_waiting(self._model):
            self._on_made()
        self.look()
