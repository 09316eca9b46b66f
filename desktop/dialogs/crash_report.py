"""The report on a crash, to be read and copied."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QWidget

from core.logs.crashes import CrashReport
from desktop.dialogs.messages import open_dialog
from desktop.ui.dialog_parts import close_button
from desktop.ui.plain_text import Label
from desktop.ui.stacks import stacked
from desktop.ui.translation import QT_TRANSLATE_NOOP, translate

_SIZE = (860, 520)
_WORDS = QT_TRANSLATE_NOOP(
    "Dialogs",
    "Candles, checkpoints and scores up to then are stored. Attach this report when you ask for help. It names "
    "folders of this computer: read it before you share it.",
)


def open_crash_report(parent: QWidget, report: CrashReport) -> QDialog:
    """Show it; Copy puts the whole of it on the clipboard."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(translate("Dialogs", "Crash report"))
    words = Label(translate("Dialogs", _WORDS), wraps=True)
    text = QPlainTextEdit(report.text, readOnly=True, lineWrapMode=QPlainTextEdit.LineWrapMode.NoWrap)
    text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
    text.setAccessibleName(translate("Dialogs", "Report text"))
    stacked(dialog, words, text, _buttons(dialog, report), stretched=text)
    dialog.resize(*_SIZE)
    return open_dialog(dialog)


def _buttons(dialog: QDialog, report: CrashReport) -> QDialogButtonBox:
    buttons = close_button(dialog)
    copy = buttons.addButton(translate("Dialogs", "&Copy"), QDialogButtonBox.ButtonRole.ActionRole)
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(report.text))
    if report.path is not None:
        folder = buttons.addButton(translate("Dialogs", "Open &folder"), QDialogButtonBox.ButtonRole.ActionRole)
        folder.clicked.connect(lambda: _open(report.path))
    return buttons


def _open(path: Path | None) -> None:
    if path is not None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
