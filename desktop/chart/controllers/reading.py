"""Reading a run's past in small pieces, between frames: forecasts, regimes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Slot

from core.clock import Clock
from core.storage.errors import StorageError

_TURN_S = 0.004
"""How long one turn of the event loop may read: painting keeps the rest of its 16 ms."""


class Pieces(Protocol):
    """What is read block by block, once the chart has asked for it."""

    on_wanted: Callable[[], None]

    @property
    def is_waiting(self) -> bool:
        """Whether something that was asked for has not been read."""
        ...

    def load_next(self) -> bool:
        """Read a block. False where nothing more is asked for. Raises StorageError."""
        ...


class Reading(QObject):
    """Reads what is wanted of `pieces` in turns. on_read: after each turn; on_trouble: where reading failed, before
    that."""

    def __init__(
        self,
        pieces: Pieces,
        clock: Clock,
        on_read: Callable[[], object],
        on_trouble: Callable[[StorageError], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._pieces, self._clock = pieces, clock
        self._on_read, self._on_trouble = on_read, on_trouble
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._read)
        pieces.on_wanted = self._start

    def _start(self) -> None:
        if not self._timer.isActive():
            self._timer.start(0)

    @Slot()
    def _read(self) -> None:
        """Called outside of painting and of the mouse; what it finds comes with the next frame."""
        until = self._clock.monotonic_s() + _TURN_S
        try:
            while self._pieces.load_next() and self._clock.monotonic_s() < until:
                pass
        except StorageError as error:
            self._on_trouble(error)
        self._on_read()
        if self._pieces.is_waiting:
            self._start()
