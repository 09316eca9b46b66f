"""Opens the documentation, the shortcuts and the data folder."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from core.domain.events import Severity
from desktop.actions import ActionId
from desktop.dialogs.documentation import open_documentation
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.shortcuts import ShortcutsDialog, chart_gestures, shortcut_lines
from desktop.ui.banner import Banner
from desktop.ui.resources import docs_folder
from desktop.ui.translation import translate


def open_data_folder(banner: Banner, folder: Path) -> None:
    """In the desktop's file manager; without one the banner names the folder."""
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        words = translate("Window", "No file manager responded. The data folder is {0}.")
        banner.notify(words.format(folder), key="data folder", is_answer=True)


def read_documentation(window: QWidget, banner: Banner) -> None:
    """Open the pages that were installed with the program."""
    folder = docs_folder()
    if folder is None:
        words = translate("Window", "The documentation was not installed with the program.")
        banner.notify(words, Severity.WARNING, key="documentation", is_answer=True)
    else:
        open_documentation(window, folder)


def list_shortcuts(window: QWidget) -> None:
    """Those of the menus and the panels, and the mouse gestures of the chart."""
    open_dialog(ShortcutsDialog((*shortcut_lines(ActionId), *chart_gestures()), window))
