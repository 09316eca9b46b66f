"""Runs layer computations that are too slow for a frame in another thread."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import QObject, QTimer, Slot

from desktop.chart.data.model import ChartModel
from desktop.chart.panes.layer import LayerSet

_LOOK_EVERY_MS = 4


class IdleWork(QObject):
    """Runs one computation at a time until no layer waits. TA-Lib and NumPy do not block the window's thread."""

    def __init__(self, layers: LayerSet, model: ChartModel, on_made: Callable[[], None], parent: QObject) -> None:
        """on_made: called when a layer's computations are complete."""
        super().__init__(parent)
        self._layers, self._model, self._on_made = layers, model, on_made
        self._making: Future[None] | None = None
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._turn)

    @property
    def is_busy(self) -> bool:
        """Whether something is computed, or a layer waits for it."""
        return self._making is not None or self._layers.waiting(self._model) is not None

    def look(self) -> None:
        """Start if a layer waits for something."""
        if not self._timer.isActive() and self.is_busy:
            self._timer.start(_LOOK_EVERY_MS)

    @Slot()
    def _turn(self) -> None:
        if self._making is None:
            self._begin()
        elif self._making.done():
            made, self._making = self._making, None
            made.result()  # re-raises the thread's exception
            self._on_made()
        self.look()

    def _begin(self) -> None:
        layer = self._layers.waiting(self._model)
        make = None if layer is None else layer.begin(self._model)
        if make is not None:
            thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="indicator")
            self._making = thread.submit(make)
            thread.shutdown(wait=False)  # the thread ends with its work; none stays idle
