"""The menu of layouts: three for a purpose, saved ones, and saving the current one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QMainWindow, QMenu

from desktop.dialogs.messages import open_dialog
from desktop.layouts.store import LayoutStore
from desktop.ui.translation import translate

Notify = Callable[[str], object]
_LONGEST_NAME = 40


class LayoutMenu(QObject):
    """Appends the saved layouts to a menu each time it is opened."""

    applying = Signal()
    """A layout is about to be applied to the docks."""

    def __init__(self, window: QMainWindow, menu: QMenu, store: LayoutStore | None, notify: Notify) -> None:
        """notify: shows a sentence. store: None if layouts cannot be saved, which a notice then explains."""
        super().__init__(window)
        self._window, self._menu, self._store, self._notify = window, menu, store, notify
        self._own: list[QAction] = []
        self._rename = QMenu(translate("Layouts", "&Rename"), window)
        self._delete = QMenu(translate("Layouts", "&Delete"), window)
        menu.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """List the saved layouts."""
        for action in self._own:
            self._menu.removeAction(action)
            action.deleteLater()
        self._own = []
        if self._store is None or not (names := self._store.names()):
            return
        self._own.append(self._menu.addSeparator())
        for name in names:
            action = self._menu.addAction(name.replace("&", "&&"))
            action.triggered.connect(partial(self.apply, name))
            self._own.append(action)
        for menu, act in ((self._rename, self.ask_new_name), (self._delete, self.delete)):
            menu.clear()
            for name in names:
                menu.addAction(name.replace("&", "&&")).triggered.connect(partial(act, name))
            self._menu.addMenu(menu)

    def ask_name(self) -> None:
        """Ask for the name of the current layout, and save it."""
        self._ask(translate("Layouts", "Save layout"), self.save)

    def ask_new_name(self, name: str, *_args: object) -> None:
        """Ask for a new name of this layout."""
        self._ask(translate("Layouts", "Rename layout"), partial(self.rename, name), name)

    def _ask(self, title: str, on_name: Callable[[str], object], name: str = "") -> None:
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(title)
        dialog.setLabelText(translate("Layouts", "Name of the layout\n(replaces one with the same name):"))
        dialog.setTextValue(name)
        dialog.textValueSelected.connect(on_name)
        open_dialog(dialog)

    def rename(self, name: str, typed: str) -> None:
        new = _name(typed)
        if not new:
            self._notify(translate("Layouts", "The layout was not renamed: it needs a name."))
        elif self._store is not None and new != name and not self._store.rename(name, new):
            self._notify(translate("Layouts", "The layout “{0}” could not be renamed in the layout file.").format(name))

    def save(self, typed: str) -> None:
        """Save the current layout under this name."""
        name = _name(typed)
        if not name:
            self._notify(translate("Layouts", "The layout was not saved: it needs a name."))
        elif self._store is None:
            self._notify(
                translate("Layouts", "Layouts are not saved in safe mode. Start without --safe-mode to save one.")
            )
        elif self._store.save_as(self._window, name):
            self._notify(translate("Layouts", "The layout was saved as “{0}”, under View, Layouts.").format(name))
        else:
            self._notify(
                translate(
                    "Layouts",
                    "The layout could not be written to the data folder; free some space, or allow writing to it.",
                )
            )

    def apply(self, name: str, *_args: object) -> None:
        self.applying.emit()
        if self._store is not None and not self._store.apply(self._window, name):
            self._notify(
                translate(
                    "Layouts", "The layout “{0}” was saved by another version, with other panels; save it again."
                ).format(name)
            )

    def delete(self, name: str, *_args: object) -> None:
        if self._store is not None and not self._store.delete(name):
            self._notify(
                translate("Layouts", "The layout “{0}” could not be deleted from the layout file.").format(name)
            )


def _name(typed: str) -> str:
    return " ".join(typed.split())[:_LONGEST_NAME]
