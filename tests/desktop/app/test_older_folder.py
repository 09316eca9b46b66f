"""A data folder that the program of 2026-11-23 left behind, before modules and names were changed: it opens as it is.

It was made by that program's own window: 84 steps over the sample file, with a layout saved by name, drawings, a price
line and the light theme. The tests below say what it holds. It is never made again: a new one joins it.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

import resources
from core.settings import tree
from core.storage.folder import DataFolder
from desktop.app.composition import Application
from desktop.app.context import Context
from desktop.layouts.store import LayoutStore
from tests.desktop.whole_window import CandleGate, run_window, step_of, until

ARCHIVE = Path(__file__).parent / "data" / "folder-2026-11-23.tar.xz"
STEPS = 77
"""What its newest checkpoint has learned."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(tmp_path / "data", filter="data")
    monkeypatch.chdir(Path(resources.__file__).parent)  # its settings name the sample file without a folder
    return DataFolder(tmp_path / "data")


def test_settings_and_layouts_are_read(folder: DataFolder) -> None:
    settings, warnings = tree.load(folder.settings)
    assert all("no such setting" in warning for warning in warnings), "some have gone since"
    assert settings.appearance.theme == "light" and settings.market.file == "sample_eurusd_1h.csv"
    assert LayoutStore(folder.layout, settings.appearance).names() == ("Mine",)


def test_the_window_opens_it_and_training_continues(qapp: QApplication, folder: DataFolder, gate: CandleGate) -> None:
    settings, _ = tree.load(folder.settings)
    gate.release(20)

    async def story(application: Application) -> None:
        await until(lambda: step_of(application) > STEPS, "a step after the newest checkpoint's")
        database = application.database
        (market,) = database.stored_markets()
        drawings, lines = (
            database.drawings.list(market.venue, market.symbol),
            database.lines.list("file", market.symbol),
        )
        assert {drawing.text for drawing in drawings} == {"", "Kept from before"}
        assert [line.text for line in lines] == ["Support"]
        (run,) = database.runs.list()
        assert application.state.run_id == run.run_id, "the run was continued"
        assert not application.state.incidents

    run_window(qapp, Context(settings, folder, as_json=False), story)
    assert list(folder.quarantine.iterdir()) == []
