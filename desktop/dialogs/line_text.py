"""Asks for the words of a price line."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from core.market.price_lines import LONGEST_TEXT
from desktop.dialogs.messages import open_dialog


class LineTextDialog(QDialog):
    """Open it with `open_dialog`; `on_text` gets the words when they are accepted."""

    def __init__(
        self, title: str, question: str, text: str, on_text: Callable[[str], object], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.edit = QLineEdit(text)
        self.edit.setMaxLength(LONGEST_TEXT)
        self.edit.setMinimumWidth(360)
        self.edit.setPlaceholderText("What it is for (may stay empty)")
        label = QLabel(question)
        label.setBuddy(self.edit)
        kinds = QDialogButtonBox.StandardButton
        self.buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        self.buttons.accepted.connect(self.accept)
        self.buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(label)
        layout.addWidget(self.edit)
        layout.addWidget(self.buttons)
        self.edit.selectAll()
        self.accepted.connect(lambda: on_text(self.edit.text().strip()))


def open_line_text(
    parent: QWidget, title: str, question: str, text: str, on_text: Callable[[str], object]
) -> LineTextDialog:
    """Ask, and return at once."""
    dialog = LineTextDialog(title, question, text, on_text, parent)
    open_dialog(dialog)
    return dialog
