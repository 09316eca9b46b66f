"""Where the window and its docks were, and layouts that were kept by name: in one file of the data folder.

JSON with what Qt saved as base64, not QSettings: reading a QSettings file can unpickle what is in it, and so run it.
"""

from __future__ import annotations

import binascii
import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as validated_dataclass
from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QDockWidget, QMainWindow

from core.files.durable import write_durably
from core.settings.faults import UNKNOWN, sentence_of
from core.settings.repair import keep_copy, read_json, shown_name
from core.settings.window import AppearanceSettings
from desktop.layouts.arrangements import forget_sizes
from desktop.layouts.on_screen import begin_in_a_window
from desktop.ui.interface_size import fit_text
from desktop.ui.translation import translate

LAYOUT_VERSION = 6
"""Grows when docks are added, renamed or removed: a layout of another version is not taken."""


@validated_dataclass(frozen=True, kw_only=True, config=ConfigDict(extra="forbid"))
class _Layouts:
    """The file. Everything that Qt saved is base64."""

    version: int = LAYOUT_VERSION
    geometry: str = ""
    docks: str = ""
    kept: dict[str, str] = field(default_factory=dict)
    checksum: str | None = None
    """The sha256 of all that Qt saved; None: a version that wrote none. Qt reads past the end of a damaged one."""


_LAYOUTS = TypeAdapter(_Layouts)


@dataclass(frozen=True, slots=True)
class _Read:
    layouts: _Layouts
    fault: str | None
    """What is wrong with the file, in words."""


class LayoutStore:
    """Reads and writes the layout file. A broken or missing one means the default layout, never an error."""

    def __init__(self, path: Path, appearance: AppearanceSettings | None = None) -> None:
        """appearance: of text that is to have its size before the docks have theirs, None to leave it as it is."""
        self._path, self._appearance = path, appearance
        self.notice: str | None = None
        """What became of a file that could not be used, for the user; None where all was well."""

    def restore(self, window: QMainWindow) -> bool:
        """Put the window and its docks where they were. False where there is nothing to restore, Qt refuses it, or the
        program ended while it did this the last time; `notice` then says so where there was something.

        Call it once all docks exist.
        """
        if self._marker.exists():
            self._leave_aside()
            return False
        found = self._read()
        if found.fault is not None:
            self._set_aside(found.fault)
            return False
        layouts = found.layouts
        geometry, docks = _decoded(layouts.geometry), _decoded(layouts.docks)
        if geometry.isEmpty() or docks.isEmpty():
            return False
        if layouts.version != LAYOUT_VERSION:
            self.notice = translate(
                "Layouts", "The layout was saved by another version of Ghostcandle; the default one is shown."
            )
            return False
        with self._marked():
            is_sized = window.restoreGeometry(geometry)  # refused on another screen or at another scale
            begin_in_a_window(window)
            if is_sized and self._appearance is not None:
                fit_text(window, self._appearance)
            is_taken = window.restoreState(docks, LAYOUT_VERSION)
        if is_taken:
            return True
        self._set_aside(translate("Layouts", "its panel data cannot be used"))
        return False

    def save(self, window: QMainWindow) -> bool:
        """Write where they are now. False where the file cannot be written; nothing else depends on it."""
        geometry, docks = _encoded(window.saveGeometry()), _encoded(window.saveState(LAYOUT_VERSION))
        return self._write(replace(self._read().layouts, version=LAYOUT_VERSION, geometry=geometry, docks=docks))

    def forget(self) -> None:
        """Start with the default layout next time; named layouts stay."""
        self._write(replace(self._read().layouts, geometry="", docks=""))

    def names(self) -> tuple[str, ...]:
        """The layouts that a user keeps, in the order of their names."""
        return tuple(sorted(self._read().layouts.kept, key=str.casefold))

    def keep(self, window: QMainWindow, name: str) -> bool:
        """Keep where the docks are now under this name, instead of what had it. False where that cannot be written."""
        layouts, docks = self._read().layouts, _encoded(window.saveState(LAYOUT_VERSION))
        return self._write(replace(layouts, kept={**layouts.kept, name: docks}))

    def apply(self, window: QMainWindow, name: str) -> bool:
        """Put the docks where the layout of this name has them. False where there is none, or it is of other docks."""
        docks = self._read().layouts.kept.get(name)
        if docks is None:
            return False
        forget_sizes(window.findChildren(QDockWidget))
        with self._marked():
            return window.restoreState(_decoded(docks), LAYOUT_VERSION)

    def drop(self, name: str) -> bool:
        """Forget a layout that was kept. False where that cannot be written."""
        layouts = self._read().layouts
        return self._write(replace(layouts, kept={each: kept for each, kept in layouts.kept.items() if each != name}))

    def rename(self, name: str, new: str) -> bool:
        """Give a layout that was kept another name, instead of what had it. False where that cannot be written."""
        layouts = self._read().layouts
        if name not in layouts.kept:
            return False
        kept = {each: docks for each, docks in layouts.kept.items() if each not in (name, new)}
        return self._write(replace(layouts, kept={**kept, new: layouts.kept[name]}))

    @contextmanager
    def _marked(self) -> Iterator[None]:
        """What crashes inside Qt leaves the marker behind, and the next start does not try again."""
        with suppress(OSError):
            self._marker.touch()
        yield
        with suppress(OSError):
            self._marker.unlink(missing_ok=True)

    def _leave_aside(self) -> None:
        """The program ended while it restored the file: what Qt crashed on once, it would crash on at every start."""
        if self._path.exists():
            self._set_aside(translate("Layouts", "Ghostcandle closed unexpectedly while restoring it"))
            self._write(_Layouts())
        with suppress(OSError):
            self._marker.unlink(missing_ok=True)

    @property
    def _marker(self) -> Path:
        return self._path.with_name(f"{self._path.name}.restoring")

    def _read(self) -> _Read:
        try:
            layouts = _LAYOUTS.validate_python(read_json(self._path))
            if layouts.checksum not in (None, _checksum(layouts)):
                return _Read(_Layouts(), translate("Layouts", "its checksum does not match"))
            return _Read(layouts, None)
        except FileNotFoundError:
            return _Read(_Layouts(), None)
        except ValidationError as error:
            return _Read(_Layouts(), _fault(error))
        except ValueError as error:
            return _Read(_Layouts(), str(error))

    def _write(self, layouts: _Layouts) -> bool:
        try:
            summed = replace(layouts, checksum=_checksum(layouts))
            write_durably(self._path, json.dumps(asdict(summed), indent=2).encode() + b"\n")
        except (OSError, ValueError):
            return False
        return True

    def _set_aside(self, fault: str) -> None:
        """Keep a copy of the invalid file: the next layout overwrites it, and it may hold named layouts."""
        kept = keep_copy(self._path, self._path.parent / "quarantine")
        notice = translate("Layouts", "The layout in {0} cannot be read ({1}); the default one is shown.")
        where = "" if kept is None else " " + translate("Layouts", "A copy of the file was saved as {0}.").format(kept)
        self.notice = notice.format(self._path.name, fault) + where


def _checksum(layouts: _Layouts) -> str:
    content = (layouts.geometry, layouts.docks, layouts.kept)
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _fault(error: ValidationError) -> str:
    """What is wrong with it first, and where."""
    problem = error.errors()[0]
    place = shown_name([str(part) for part in problem["loc"]])
    if problem["type"] in UNKNOWN:
        return translate("Layouts", "a layout has no field “{0}”").format(place)
    return f"“{place}”: {sentence_of(problem)}" if place else sentence_of(problem)


def _encoded(data: QByteArray) -> str:
    return b64encode(data.data()).decode()


def _decoded(text: str) -> QByteArray:
    """Nothing for what is no base64: Qt refuses that like any other rubbish."""
    try:
        return QByteArray(b64decode(text, validate=True))
    except (binascii.Error, ValueError):
        return QByteArray(b"?") if text else QByteArray()
