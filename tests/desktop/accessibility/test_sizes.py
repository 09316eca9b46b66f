"""Every dialog has room on a small screen, however large its text: the rest can be scrolled to."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.window_settings import AppearanceSettings
from desktop.app import Application
from desktop.interface_size import set_font
from tests.desktop.accessibility import stage
from tests.desktop.whole_window import CandleGate

PERCENTS = (100, 150, 200, 300)


def test_no_dialog_is_larger_than_the_screen(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    too_large: list[str] = []

    async def story(application: Application) -> None:
        for percent in PERCENTS:
            set_font(qapp, AppearanceSettings(interface_percent=percent))
            for name, opener in stage.openers().items():
                with stage.opened(application, opener) as dialog:
                    qapp.processEvents()
                    screen = dialog.screen().availableGeometry().size()
                    if dialog.size().boundedTo(screen) != dialog.size():
                        too_large.append(f"{name} at {percent} %: {dialog.size().toTuple()}")

    CandleGate.install(monkeypatch)
    stage.play(qapp, tmp_path, story)
    assert "\n".join(too_large) == ""
