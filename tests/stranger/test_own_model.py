"""A user names a model in a file in Preferences, and watches its ghosts beside those of the combination."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from core.settings.tree import MarketSettings
from core.storage.folder import DataFolder
from desktop.app.context import Context
from tests.stranger import screen
from tests.stranger.day import QUICK
from tests.stranger.program import has_ghosts_of_the_model, play, words_of_chart
from tests.stranger.user import User

pytestmark = [pytest.mark.stranger, pytest.mark.slow, pytest.mark.timeout(400)]

FILE = Path(__file__).parents[2] / "docs" / "examples" / "own_model.py"
SIMULATED = replace(QUICK, market=MarketSettings(feed="simulate", speed=4.0, catch_up_candles=60))


def test_the_ghosts_of_a_model_in_a_file_are_ticked(qt: QApplication, user: User, tmp_path: Path) -> None:
    play(qt, Context(SIMULATED, DataFolder(tmp_path), as_json=False), try_own_model, user, longest_s=300.0)


async def try_own_model(user: User) -> None:
    await user.until(has_ghosts_of_the_model, "the model's candles")
    await name_model(user, f"{FILE}:OwnModell")
    await user.click("Stop")
    await user.click("Start")
    await user.read("OwnModell")
    await user.picture("40-a-wrong-name")
    await name_model(user, f"{FILE}:OwnModel")
    await user.click("Start")
    await user.click("Models", within="Accuracy")
    await user.until(has_ghosts_of_the_model, "the model's candles")
    await user.click("Ghosts of: OwnModel", within="Accuracy")
    await user.until(lambda: "OwnModel" in words_of_chart(), "its ghosts")
    assert "Stopped" not in screen.words_on_screen(), "a tick is a setting, and settings restart nothing"
    await user.picture("41-ghosts-of-a-model-in-a-file")
    await user.click("Ghosts of: OwnModel", within="Accuracy")
    await user.until(lambda: "OwnModel" not in words_of_chart(), "their end")
    await user.press("Ctrl+Q")


async def name_model(user: User, model: str) -> None:
    await user.menu("File", "Preferences")
    await user.click("Model", within="Preferences")
    await user.click("Challengers", within="Preferences")
    await user.press("Ctrl+A")
    await user.type(model)
    await user.click("OK", within="Preferences")
