from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from tests.stranger.user import User

_ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def qt(qapp: QApplication) -> Iterator[QApplication]:
    """The application, which the program dresses; afterwards it is as it was."""
    palette, style, ends = QPalette(qapp.palette()), qapp.style().objectName(), qapp.quitOnLastWindowClosed()
    yield qapp
    qapp.styleHints().unsetColorScheme()
    qapp.setStyle(style)
    qapp.setPalette(palette)
    qapp.setQuitOnLastWindowClosed(ends)


@pytest.fixture
def user(qt: QApplication) -> User:
    """Pictures go to build/stranger, or to the folder that GHOSTCANDLE_STRANGER names."""
    usual = _ROOT / "build" / ("stranger" if QGuiApplication.platformName() == "offscreen" else "stranger-on-a-screen")
    return User(Path(os.environ.get("GHOSTCANDLE_STRANGER", usual)))
