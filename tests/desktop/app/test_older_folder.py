"""A data folder that a version before 1.0.0 left on 23 November 2026 is refused and not changed."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

import resources
from core.settings import tree
from core.storage.folder import DataFolder
from desktop.app.composition import Application
from desktop.app.context import Context
from tests.desktop.whole_window import run_window, until
from tests.support import commands, older_folder

_KEPT = ("*.sqlite3", "*.safetensors")


def contents(folder: DataFolder) -> dict[Path, str]:
    files = (path for pattern in _KEPT for path in folder.root.rglob(pattern))
    return {path: sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_window_names_the_way_out_and_changes_nothing(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = older_folder.unpack(tmp_path / "data")
    monkeypatch.chdir(Path(resources.__file__).parent)  # its settings name the sample file without a folder
    before = contents(folder)
    settings, _ = tree.load(folder.settings)

    async def story(application: Application) -> None:
        def is_refused() -> bool:
            shown = application.window.banner.shown
            return shown is not None and "ghostcandle export" in shown.text

        await until(is_refused, "the sentence")
        assert not application.database.is_open

    run_window(qapp, Context(settings, folder, as_json=False), story)
    assert before and contents(folder) == before and list(folder.quarantine.iterdir()) == []


def test_commands_name_the_way_out_and_change_nothing(tmp_path: Path) -> None:
    folder = older_folder.unpack(tmp_path / "data")
    before = contents(folder)
    for command in (("headless", "--candles", "5"), ("metrics",), ("backups", "make"), ("doctor", "--json")):
        done = commands.invoke(*command, "--data-dir", str(folder.root))
        assert done.returncode == 1 and "ghostcandle export" in done.stdout + done.stderr, command
        assert "Traceback" not in done.stderr, command
    assert before and contents(folder) == before
