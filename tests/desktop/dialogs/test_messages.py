from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from desktop.dialogs.messages import open_about


def test_a_device_name_is_shown_as_plain_text(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    box = open_about(parent, QIcon(), "<b>GPU</b> & more")
    assert isinstance(box, QMessageBox)
    assert "&lt;b&gt;GPU&lt;/b&gt; &amp; more" in box.informativeText()
    box.reject()
