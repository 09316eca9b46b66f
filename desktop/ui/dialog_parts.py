"""What dialogs are made of: parts below one another, and the usual buttons."""

from __future__ import annotations

from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLayout, QVBoxLayout, QWidget


def stacked(host: QWidget, *parts: QWidget | QLayout, stretched: QWidget | QLayout | None = None) -> QVBoxLayout:
    """The parts below one another. stretched: the one that takes the room that is left."""
    layout = QVBoxLayout(host)
    for part in parts:
        if isinstance(part, QLayout):
            layout.addLayout(part, int(part is stretched))
        else:
            layout.addWidget(part, int(part is stretched))
    return layout


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
