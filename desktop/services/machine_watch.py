"""Asks every two seconds what the machine has to do, on a thread of its own: a driver may take its time."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from core.machine import MachineProbe
from desktop.services.loop_thread import LoopThread

_EVERY_S = 2.0
_FIRST_AFTER_S = 0.25
"""How busy the cores are is counted over a while."""


class MachineWatch(QObject):
    """Tells from `start` to `close`."""

    told = Signal(object)
    """MachineReading"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = LoopThread(self._watch, "Machine", self)

    def start(self) -> None:
        """Begin; once."""
        self._thread.start()

    def close(self) -> bool:
        """False where the thread did not end in time."""
        return self._thread.stop_and_wait()

    async def _watch(self) -> None:
        probe = MachineProbe()
        try:
            await asyncio.sleep(_FIRST_AFTER_S)
            while True:
                self.told.emit(probe.read())
                await asyncio.sleep(_EVERY_S)
        finally:
            probe.close()
