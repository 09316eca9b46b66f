"""Where the window and its docks were, and layouts that were kept by name: in one file of the data folder."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings
from PySide6.QtWidgets import QMainWindow

LAYOUT_VERSION = 5
"""Grows when docks are added, renamed or removed: a layout of another version is not taken."""
_LAST, _NAMED = "window", "layouts"


class LayoutStore:
    """Reads and writes the layout file. A broken or missing one means the default layout, never an error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def restore(self, window: QMainWindow) -> bool:
        """Put the window and its docks where they were. False where there is nothing to restore, or Qt refuses it.

        Call it once all docks exist.
        """
        settings = self._open()
        geometry, docks = settings.value(f"{_LAST}/geometry"), settings.value(f"{_LAST}/docks")
        if not isinstance(geometry, QByteArray) or not isinstance(docks, QByteArray):
            return False
        return window.restoreGeometry(geometry) and window.restoreState(docks, LAYOUT_VERSION)

    def save(self, window: QMainWindow) -> bool:
        """Write where they are now. False where the file cannot be written; nothing else depends on it."""
        settings = self._open()
        settings.setValue(f"{_LAST}/geometry", window.saveGeometry())
        settings.setValue(f"{_LAST}/docks", window.saveState(LAYOUT_VERSION))
        settings.sync()
        return settings.status() is QSettings.Status.NoError

    def forget(self) -> None:
        """Start with the default layout next time; what was kept by name stays."""
        settings = self._open()
        settings.remove(_LAST)
        settings.sync()

    def names(self) -> tuple[str, ...]:
        """The layouts that a user keeps, in the order of their names."""
        return tuple(sorted(self._read(), key=str.casefold))

    def keep(self, window: QMainWindow, name: str) -> bool:
        """Keep where the docks are now under this name, instead of what had it. False where that cannot be written."""
        kept = self._read()
        kept[name] = window.saveState(LAYOUT_VERSION)
        return self._write(kept)

    def apply(self, window: QMainWindow, name: str) -> bool:
        """Put the docks where the layout of this name has them. False where there is none, or it is of other docks."""
        docks = self._read().get(name)
        return docks is not None and window.restoreState(docks, LAYOUT_VERSION)

    def drop(self, name: str) -> bool:
        """Forget a layout that was kept. False where that cannot be written."""
        kept = self._read()
        kept.pop(name, None)
        return self._write(kept)

    def _read(self) -> dict[str, QByteArray]:
        settings = self._open()
        kept = {}
        for index in range(settings.beginReadArray(_NAMED)):
            settings.setArrayIndex(index)
            docks = settings.value("docks")
            if isinstance(docks, QByteArray):
                kept[str(settings.value("name"))] = docks
        settings.endArray()
        return kept

    def _write(self, kept: dict[str, QByteArray]) -> bool:
        """As an array, because a name may have any characters, which a key may not."""
        settings = self._open()
        settings.remove(_NAMED)
        settings.beginWriteArray(_NAMED, len(kept))
        for index, (name, docks) in enumerate(kept.items()):
            settings.setArrayIndex(index)
            settings.setValue("name", name)
            settings.setValue("docks", docks)
        settings.endArray()
        settings.sync()
        return settings.status() is QSettings.Status.NoError

    def _open(self) -> QSettings:
        return QSettings(str(self._path), QSettings.Format.IniFormat)
