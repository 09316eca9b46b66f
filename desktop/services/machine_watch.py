"""Reads the load of the machine every two seconds, on a separate thread because drivers can be slow."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from core.machine.readings import MachineProbe
from desktop.services.loop_thread import LoopThread

_EVERY_S = 2.0
_FIRST_AFTER_S = 0.25
"""The load of the cores is measured over this time."""


class MachineWatch(QObject):
    """Reads from `start` to `close`."""

    reading_changed = Signal(object)
    """MachineReading"""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread = LoopThread("Machine", self)

    def start(self) -> None:
        """Call it once."""
        self._thread.submit(self._watch)

    def close(self) -> bool:
        """False if the thread did not end in time."""
        return self._thread.close()

    async def _watch(self) -> None:
        probe = MachineProbe()
        try:
            await asyncio.sleep(_FIRST_AFTER_S)
            while True:
                self.reading_changed.emit(probe.read())
                await asyncio.sleep(_EVERY_S)
        finally:
            probe.close()
