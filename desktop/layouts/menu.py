"""The menu of layouts: three for a purpose, those that the user keeps, and keeping one."""

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
    """Fills a menu, below what is there, with the layouts that are kept, each time it is opened."""

    applying = Signal()
    """The docks are about to be put where a layout has them."""

    def __init__(self, window: QMainWindow, menu: QMenu, store: LayoutStore | None, notify: Notify) -> None:
        """notify: shows a sentence. Without a store, nothing can be kept, and the menu says why."""
        super().__init__(window)
        self._window, self._menu, self._store, self._notify = window, menu, store, notify
        self._own: list[QAction] = []
        self._rename = QMenu(translate("Layouts", "&Rename"), window)
        self._forget = QMenu(translate("Layouts", "&Delete"), window)
        menu.aboutToShow.connect(self.fill)

    def fill(self) -> None:
        """Show what is kept now."""
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
        for menu, act in ((self._rename, self.ask_new_name), (self._forget, self.forget)):
            menu.clear()
            for name in names:
                menu.addAction(name.replace("&", "&&")).triggered.connect(partial(act, name))
            self._menu.addMenu(menu)

    def ask_name(self) -> None:
        """Ask what the layout as it is now is to be called, and keep it."""
        self._ask(translate("Layouts", "Save layout"), self.keep)

    def ask_new_name(self, name: str, *_args: object) -> None:
        """Ask what this layout is to be called from now on."""
        self._ask(translate("Layouts", "Rename layout"), partial(self.rename, name), name)

    def _ask(self, title: str, on_name: Callable[[str], object], name: str = "") -> None:
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(title)
        dialog.setLabelText(translate("Layouts", "Name of the layout\n(replaces one with the same name):"))
        dialog.setTextValue(name)
        dialog.textValueSelected.connect(on_name)
        open_dialog(dialog)

    def rename(self, name: str, typed: str) -> None:
        """Give a layout that is kept another name."""
        new = _name(typed)
        if not new:
            self._notify(translate("Layouts", "The layout was not renamed: it needs a name."))
        elif self._store is not None and new != name and not self._store.rename(name, new):
            self._notify(translate("Layouts", "The layout “{0}” could not be renamed in the layout file.").format(name))

    def keep(self, typed: str) -> None:
        """Keep the docks as they are under this name."""
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
        """Put the docks where this layout has them."""
        self.applying.emit()
        if self._store is not None and not self._store.apply(self._window, name):
            self._notify(
                translate(
                    "Layouts", "The layout “{0}” was saved by another version, with other panels; save it again."
                ).format(name)
            )

    def forget(self, name: str, *_args: object) -> None:
        if self._store is not None and not self._store.delete(name):
            self._notify(
                translate("Layouts", "The layout “{0}” could not be deleted from the layout file.").format(name)
            )


def _name(typed: str) -> str:
    return " ".join(typed.split())[:_LONGEST_NAME]
