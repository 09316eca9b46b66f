"""Stored files are private to the user under any umask, and leftovers of a kill are cleaned up."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.files.private import make_private
from core.storage.database import open_database
from core.storage.folder import DataFolder
from tests.core.training import rigs
from tests.core.training.conftest import SessionAfter
from tests.core.training.conftest import session_after as session_after
from tests.support import commands

pytestmark = [
    pytest.mark.hostile,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes"),
]

OTHERS = 0o077
FOLDERS = ("backups", "logs", "models", "quarantine")


def open_to_others(root: Path) -> list[str]:
    files = [path for name in ("*.sqlite3*", *(f"{name}/**/*" for name in FOLDERS)) for path in root.glob(name)]
    found = [root, *root.glob("*.lock"), *(root / name for name in FOLDERS), *filter(Path.is_file, files)]
    return [
        str(path.relative_to(root)) for path in found if path.exists() and stat.S_IMODE(path.stat().st_mode) & OTHERS
    ]


def run(data: Path, *arguments: str) -> None:
    subprocess.run(
        commands.command(*arguments, "--data-dir", str(data)),
        umask=0,
        cwd=commands.ROOT,
        check=True,
        timeout=240,
        capture_output=True,
    )


@pytest.mark.slow
def test_stored_files_are_private_under_any_umask(tmp_path: Path) -> None:
    """Modes were 0644."""
    data = tmp_path / "data"
    run(data, "headless", "--feed", "simulate", "--candles", "12", "--seed", "1")
    run(data, "backups", "make")
    assert {path.name for path in (data / "logs").iterdir()} >= {"ghostcandle.log", "trainer.log"}
    assert list(data.glob("backups/*/*.sqlite3")) and list(data.glob("models/**/*.safetensors"))
    assert open_to_others(data) == []


def test_a_folder_of_an_older_version_is_made_private_at_the_next_start(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.ensure()
    open_database(folder.database).close()
    for path in (folder.root, folder.logs, folder.models, folder.quarantine):
        path.chmod(0o755)
    folder.database.chmod(0o644)
    folder.ensure()
    with open_database(folder.database) as db:
        db.execute("CREATE TABLE more (number INTEGER)")
        assert open_to_others(folder.root) == []


def test_a_folder_with_foreign_files_keeps_its_mode(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "home")
    folder.root.mkdir()
    folder.root.chmod(0o755)
    (folder.root / "letters").write_text("Dear diary")
    folder.ensure()
    assert stat.S_IMODE(folder.root.stat().st_mode) == 0o755
    assert stat.S_IMODE(folder.logs.stat().st_mode) == 0o700


def test_shared_folders_and_links_are_not_changed(tmp_path: Path) -> None:
    shared, target, link = tmp_path / "shared", tmp_path / "target", tmp_path / "link"
    shared.mkdir()
    shared.chmod(0o1777)
    target.write_text("")
    target.chmod(0o644)
    link.symlink_to(target)
    for path in (shared, link, tmp_path / "gone"):
        make_private(path)
    assert stat.S_IMODE(shared.stat().st_mode) == 0o1777 and stat.S_IMODE(target.stat().st_mode) == 0o644


def test_temporary_files_of_a_killed_snapshot_are_removed_at_the_next_start(
    tmp_path: Path, session_after: SessionAfter
) -> None:
    session = session_after(tmp_path, 31)
    folder = DataFolder(tmp_path).checkpoints(session.status().run_id) / "twins"
    session.close()
    whole = sorted(folder.iterdir())
    (folder / f".{whole[0].name}-abc123.tmp").write_bytes(os.urandom(500))
    rigs.service(tmp_path).close()
    assert sorted(folder.iterdir()) == whole and whole
