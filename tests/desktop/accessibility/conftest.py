from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from desktop.ui.accessible import describe_painted


@pytest.fixture(scope="session", autouse=True)
def speaking_widgets(qapp: QApplication) -> None:
    """As the program does once at its start; Qt has no way to take it back."""
    describe_painted()
