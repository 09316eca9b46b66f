"""The last places of the window and its docks, and the named layouts: one JSON file in the data folder.

Qt's own data is stored as base64. QSettings is not used: reading such a file can unpickle its content, which runs
code.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64decode, b64encode
from dataclasses import asdict, field, replace
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass
from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QDockWidget, QMainWindow

from core.files.durable import write_durably
from core.settings.repair import back_up
from core.settings.window import AppearanceSettings
from desktop.layouts.arrangements import forget_sizes
from desktop.layouts.window_size import begin_in_a_window, set_first_size
from desktop.ui.interface_size import fit_text
from desktop.ui.translation import translate

LAYOUT_VERSION = 6
"""Increases when docks are added, renamed or removed: a layout of another version is ignored."""


@dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class _Layouts:
    """The content of the layout file."""

    version: int = LAYOUT_VERSION
    geometry: str = ""
    docks: str = ""
    kept: dict[str, str] = field(default_factory=dict)
    """Docks of the layouts saved by name."""
    checksum: str = ""
    """The sha256 of all that Qt saved. A changed byte in it can end the process inside `restoreState`."""

    def summed(self) -> str:
        content = (self.geometry, self.docks, self.kept)
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


_LAYOUTS = TypeAdapter(_Layouts)


class LayoutStore:
    """Reads and writes the layout file. A damaged or missing one means the default layout, never an error."""

    def __init__(self, path: Path, appearance: AppearanceSettings | None = None) -> None:
        """appearance: sets the size of text before the sizes of docks; None leaves it unchanged."""
        self._path, self._appearance = path, appearance
        self.notice: str | None = None
        """Why a file could not be used, for the user."""

    def restore(self, window: QMainWindow) -> bool:
        """Restore the window and its docks, once all docks exist. False if there is nothing to restore or Qt refuses
        it; `notice` then gives the reason, unless nothing was stored."""
        layouts = self._read()
        if layouts is None:
            self._back_up()
            return False
        if not layouts.geometry or not layouts.docks:
            return False
        if layouts.version != LAYOUT_VERSION:
            self.notice = translate(
                "Layouts", "The layout was saved by another version of Ghostcandle; the default one is shown."
            )
            return False
        if not window.restoreGeometry(_decoded(layouts.geometry)):  # refused on a screen of another size
            set_first_size(window)
        begin_in_a_window(window)
        if self._appearance is not None:
            fit_text(window, self._appearance)
        if not window.restoreState(_decoded(layouts.docks), LAYOUT_VERSION):
            self._back_up()
            return False
        return True

    def save(self, window: QMainWindow) -> bool:
        """Write the current layout. False if the file cannot be written; nothing else depends on it."""
        geometry, docks = _encoded(window.saveGeometry()), _encoded(window.saveState(LAYOUT_VERSION))
        return self._write(replace(self._layouts, version=LAYOUT_VERSION, geometry=geometry, docks=docks))

    def forget(self) -> None:
        """Start with the default layout next time; named layouts stay."""
        self._write(replace(self._layouts, geometry="", docks=""))

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._layouts.kept, key=str.casefold))

    def save_as(self, window: QMainWindow, name: str) -> bool:
        """Save the current docks under this name, replacing any such layout. False if the file cannot be written."""
        return self._write_named({**self._layouts.kept, name: _encoded(window.saveState(LAYOUT_VERSION))})

    def apply(self, window: QMainWindow, name: str) -> bool:
        """Restore the docks of this layout. False if there is none, or it is of other docks."""
        docks = self._layouts.kept.get(name)
        if docks is None:
            return False
        forget_sizes(window.findChildren(QDockWidget))
        return window.restoreState(_decoded(docks), LAYOUT_VERSION)

    def delete(self, name: str) -> bool:
        """Delete a saved layout. False if that cannot be written."""
        return self._write_named({each: docks for each, docks in self._layouts.kept.items() if each != name})

    def rename(self, name: str, new: str) -> bool:
        """Rename a saved layout, also over another one. False if that cannot be written."""
        kept = self._layouts.kept
        others = {each: docks for each, docks in kept.items() if each not in (name, new)}
        return name in kept and self._write_named({**others, new: kept[name]})

    @property
    def _layouts(self) -> _Layouts:
        return self._read() or _Layouts()

    def _read(self) -> _Layouts | None:
        """The stored layouts; None for a damaged file."""
        try:
            layouts = _LAYOUTS.validate_json(self._path.read_bytes())
        except FileNotFoundError:
            return _Layouts()
        except (OSError, ValueError):
            return None
        return layouts if layouts.checksum == layouts.summed() else None

    def _write_named(self, kept: dict[str, str]) -> bool:
        return self._write(replace(self._layouts, kept=kept))

    def _write(self, layouts: _Layouts) -> bool:
        try:
            summed = replace(layouts, checksum=layouts.summed())
            write_durably(self._path, json.dumps(asdict(summed), indent=2).encode() + b"\n")
        except OSError:
            return False
        return True

    def _back_up(self) -> None:
        """Copy the file, which the next layout overwrites and which may hold named ones."""
        notice = translate("Layouts", "The layout file is damaged; the default layout is shown.")
        copy = back_up(self._path)
        where = "" if copy is None else " " + translate("Layouts", "A copy of the file was saved as {0}.").format(copy)
        self.notice = notice + where


def _encoded(data: QByteArray) -> str:
    return b64encode(data.data()).decode()


def _decoded(text: str) -> QByteArray:
    return QByteArray(b64decode(text))
