"""Errors that prevent a start are shown in a dialog if there is no terminal, and only then."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from desktop.dialogs import start_failure


class Terminal:
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("platform", "display", "terminal", "is_needed"),
    [
        ("", ":0", False, True),
        ("", ":0", True, False),
        ("xcb", "", False, True),
        ("offscreen", ":0", False, False),
        ("minimal", "", False, False),
        ("", "", False, sys.platform != "linux"),
    ],
)
def test_the_dialog_is_needed_only_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, platform: str, display: str, terminal: bool, is_needed: bool
) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", platform)
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal() if terminal else None)
    assert start_failure.is_needed() is is_needed


def test_the_dialog_stays_until_it_is_closed(qapp: QApplication) -> None:
    shown: list[str] = []

    def look_and_close() -> None:
        for widget in qapp.topLevelWidgets():
            if isinstance(widget, QMessageBox) and widget.isVisible():
                shown.append(widget.text())
                widget.close()

    timer = QTimer()
    timer.timeout.connect(look_and_close)
    timer.start(0)
    start_failure.show("The disk is full. Free some space.")
    timer.stop()
    assert shown == ["The disk is full. Free some space."]
