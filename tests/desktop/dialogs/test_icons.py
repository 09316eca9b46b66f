"""Dialogs use our icons only: the style's differ in shape and colour."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QAbstractButton, QDialog, QDialogButtonBox, QMessageBox
from pytestqt.qtbot import QtBot

from core.settings.tree import MarketSettings, Settings
from desktop.dialogs.market import MarketDialog
from desktop.dialogs.messages import open_dialog
from desktop.dialogs.preferences import PreferencesDialog
from desktop.jobs.history_dialogs import ImportDialog
from desktop.ui.plain_text import MessageBox


def question() -> QDialog:
    box = MessageBox()
    box.setIcon(MessageBox.Icon.Question)
    box.setText("Close the window?")
    box.addButton(MessageBox.StandardButton.Cancel)
    return box


MAKERS: dict[str, Callable[[], QDialog]] = {
    "market": lambda: MarketDialog(MarketSettings()),
    "preferences": lambda: PreferencesDialog(Settings(), None),  # type: ignore[arg-type]
    "import": ImportDialog,
    "question": question,
}


def colours(image: QImage) -> set[str]:
    found = (image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height()))
    return {colour.name() for colour in found if colour.alpha() == 255}


def icon_image(button: QAbstractButton) -> QImage:
    return button.icon().pixmap(32, 32).toImage()


@pytest.mark.parametrize("name", list(MAKERS))
def test_standard_buttons_have_icons_of_one_colour_the_texts(qtbot: QtBot, name: str) -> None:
    dialog = MAKERS[name]()
    qtbot.addWidget(dialog)
    open_dialog(dialog)
    ink = QColor(dialog.palette().buttonText().color()).name()
    buttons = [button for box in dialog.findChildren(QDialogButtonBox) for button in box.buttons()]
    assert buttons
    for button in buttons:
        assert colours(icon_image(button)) <= {ink}, button.text()
    assert any(colours(icon_image(button)) == {ink} for button in buttons), "Cancel has one, whatever the style says"
    if isinstance(dialog, QMessageBox):
        assert colours(dialog.iconPixmap().toImage()) == {ink}
    dialog.reject()
