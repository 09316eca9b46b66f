from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication

from desktop.accessible import describe_painted
from tests.desktop.accessibility.survey import Survey, survey
from tests.desktop.whole_window import CandleGate


@pytest.fixture(scope="session", autouse=True)
def speaking_widgets(qapp: QApplication) -> None:
    """As the program does once at its start; Qt has no way to take it back."""
    describe_painted()


@pytest.fixture(scope="session")
def found(qapp: QApplication, speaking_widgets: None, tmp_path_factory: pytest.TempPathFactory) -> Survey:
    """What a visit to the whole program found. One visit for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        CandleGate.install(patch)
        return survey(qapp, tmp_path_factory.mktemp("survey"))
