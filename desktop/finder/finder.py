"""Opens the finder's box over a window, with all that can be found in it now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QObject

from desktop.actions import ActionId
from desktop.dialogs.messages import open_dialog
from desktop.finder.dialog import FinderDialog
from desktop.finder.search import Entry
from desktop.finder.sources import action_entries, checkpoint_entries, setting_entries
from desktop.theme import Theme
from desktop.window import MainWindow

Source = Callable[[], Iterable[Entry]]


class Finder(QObject):
    """Sources are asked anew each time the box is opened."""

    def __init__(self, window: MainWindow, theme: Theme) -> None:
        super().__init__(window)
        self._window, self._theme = window, theme
        self._sources: list[Source] = []
        window.actions_of_window.wire({ActionId.FIND: self.open})

    def add_source(self, source: Source) -> None:
        """More that can be found; it comes after what is there."""
        self._sources.append(source)

    def open(self) -> FinderDialog:
        """Show the box."""
        dialog = FinderDialog(self._entries(), self._theme, self._window)
        open_dialog(dialog)
        return dialog

    def _entries(self) -> Iterator[Entry]:
        window = self._window
        yield from action_entries(window.actions_of_window, but=frozenset({ActionId.FIND}))
        for source in self._sources:
            yield from source()
        yield from checkpoint_entries(window.source.checkpoints(), self._show_checkpoint)
        yield from setting_entries(window.settings, self._open_setting)

    def _show_checkpoint(self, checkpoint_id: str) -> None:
        self._window.show_dock(ActionId.SHOW_CHECKPOINTS)
        self._window.checkpoints.reveal(checkpoint_id)

    def _open_setting(self, group: str, name: str) -> None:
        self._window.open_preferences().show_setting(group, name)
