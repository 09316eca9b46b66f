"""What Qt prints about a window without a screen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import qInstallMessageHandler, qWarning
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.ui.qt_messages import useful_qt_messages


def test_only_messages_that_a_person_can_use_are_printed(qtbot: QtBot, capsys: pytest.CaptureFixture[str]) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    recorder = qInstallMessageHandler(None)  # of the tests; the program has none
    try:
        with useful_qt_messages():
            window.setMinimumSize(50, 50)
            window.show()
            window.setMinimumSize(100, 100)
            window.raise_()
            qWarning("A fault that matters")
    finally:
        qInstallMessageHandler(recorder)
    assert capsys.readouterr().err == "A fault that matters\n"
