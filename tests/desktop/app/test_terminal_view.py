"""A run without a display, as its terminal shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from desktop.app.running import TerminalView
from desktop.app.terminal_progress import TerminalProgress
from desktop.state.run_state import RunState
from tests.desktop import scenario


class Runs(QObject):
    notice = Signal(str)
    failed = Signal(str)
    refused = Signal(str)


def test_the_path_of_the_picture_is_reported_once_and_again_after_a_failure(
    qtbot: QtBot, state: RunState, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    window, picture = QWidget(), tmp_path / "pictures" / "window.png"
    qtbot.addWidget(window)
    progress = TerminalProgress(is_shown=True)
    view = TerminalView(window, Runs(window), state, progress, picture, window)  # type: ignore[arg-type]

    def reports() -> list[bool]:
        view.write_picture()
        return ["could not" in line for line in capsys.readouterr().err.splitlines()]

    assert (reports(), reports()) == ([False], []) and picture.exists()
    picture.unlink()
    picture.mkdir()
    assert (reports(), reports()) == ([True], [])
    picture.rmdir()
    assert reports() == [False]


def test_the_status_is_reported_after_new_steps_only(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_shown=True)
    lines = []
    for step in (1, 2, 2):
        progress.apply(scenario.status(step=step))
        progress.report_status()
        lines += capsys.readouterr().err.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["Step 1", "Step 2"]
