"""The owner of the settings while the program runs, and the writer of their file."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QThreadPool, Signal, Slot

from core.settings import tree as settings_file
from core.settings.tree import Settings

_ENDS_WITHIN_MS = 10_000
_log = logging.getLogger("ghostcandle")


class SettingsStore(QObject):
    """Holds the settings tree. `changed` also reaches the author of a change."""

    changed = Signal(object)
    """Settings: the whole tree. Also emitted when the same settings were chosen again."""

    def __init__(self, settings: Settings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings

    @property
    def current(self) -> Settings:
        return self._settings

    def change(self, settings: Settings) -> None:
        """Replace the whole tree."""
        self._settings = settings
        self.changed.emit(settings)

    def change_chart(self, **changes: Any) -> None:
        """Replace fields of `ChartSettings` by name."""
        self.change(replace(self._settings, chart=replace(self._settings.chart, **changes)))


class SettingsWriter(QObject):
    """Writes the file on another thread: a slow or busy disk holds up no frame. Lives in the window's thread."""

    failed = Signal(str)
    """Why the settings could not be written."""

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._path = path
        self._newest: Settings | None = None
        self._written: Settings | None = None
        """Belongs to the pool's thread."""
        self._pool = QThreadPool(self, maxThreadCount=1)

    @Slot(object)
    def save(self, settings: Settings) -> None:
        """Write the settings later; of several changes in a row only the last is written."""
        self._newest = settings
        self._pool.start(self._write)

    def finish(self) -> bool:
        """Wait until all is written; a failed write is tried once more. False on a timeout."""
        self._pool.start(self._write)
        return self._pool.waitForDone(_ENDS_WITHIN_MS)

    def _write(self) -> None:
        settings = self._newest
        if settings is None or settings is self._written:
            return
        try:
            settings_file.save(settings, self._path)
        except OSError as error:
            _log.warning("The settings could not be saved: %s", error)
            self.failed.emit(error.strerror or str(error))
        else:
            self._written = settings
