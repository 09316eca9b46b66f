"""The usual buttons of dialogs."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox


def ok_and_cancel(dialog: QDialog, accept: str = "") -> QDialogButtonBox:
    """The buttons of a dialog that asks. accept: the words on the first one, where OK says too little."""
    kinds = QDialogButtonBox.StandardButton
    buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
    if accept:
        buttons.button(kinds.Ok).setText(accept)
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    return buttons


def close_button(dialog: QDialog) -> QDialogButtonBox:
    """The button of a dialog that shows."""
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    return buttons
