"""Settings are written on another thread: the last of several changes, all before the end, failures with a reason."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from core.settings import tree
from core.settings.tree import Settings, TrainingSettings
from desktop.state.settings_store import SettingsWriter


def of_seed(seed: int) -> Settings:
    return replace(Settings(), training=TrainingSettings(seed=seed))


def test_the_last_change_is_written_before_the_end(qtbot: QtBot, tmp_path: Path) -> None:
    writer = SettingsWriter(tmp_path / "settings.json")
    for seed in range(20):
        writer.save(of_seed(seed))
    assert writer.finish() and tree.load(tmp_path / "settings.json") == (of_seed(19), ())


def test_the_window_does_not_wait_for_the_disk(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save, may_write, written = tree.save, threading.Event(), []

    def slow_disk(settings: Settings, path: Path) -> None:
        assert may_write.wait(60.0)
        written.append(settings.training.seed)
        save(settings, path)

    monkeypatch.setattr(tree, "save", slow_disk)
    writer = SettingsWriter(tmp_path / "settings.json")
    for seed in range(3):
        writer.save(of_seed(seed))
    assert not written
    may_write.set()
    assert writer.finish() and written[-1] == 2 and len(written) <= 2, "overtaken changes are not written"


def test_a_failure_has_its_reason_and_the_next_change_is_tried(qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.mkdir()
    writer = SettingsWriter(path)
    with qtbot.waitSignal(writer.failed) as failed:
        writer.save(of_seed(1))
    assert "directory" in str(failed.args[0])
    path.rmdir()
    writer.save(of_seed(1))
    assert writer.finish() and tree.load(path) == (of_seed(1), ())


def test_what_could_not_be_written_is_tried_again_at_the_end(qtbot: QtBot, tmp_path: Path) -> None:
    """Regression: settings chosen while the disk was full were lost, though there was room long before the end."""
    path = tmp_path / "settings.json"
    path.mkdir()
    writer = SettingsWriter(path)
    with qtbot.waitSignal(writer.failed):
        writer.save(of_seed(1))
    path.rmdir()
    assert writer.finish() and tree.load(path) == (of_seed(1), ())
