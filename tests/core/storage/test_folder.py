"""The data folder checks that it is writable and rejects paths outside it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from core.storage import folder as folders
from core.storage.errors import StorageError
from core.storage.folder import DataFolder


def test_ensure_creates_the_folders_and_leaves_nothing_else(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "deep" / "data")
    folder.ensure()
    folder.ensure()
    assert sorted(path.name for path in folder.root.rglob("*")) == ["logs", "models", "quarantine"]


def test_a_folder_below_a_file_is_refused_with_an_explanation(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="--data-dir"):
        DataFolder(tmp_path / "file" / "data").ensure()


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="this system has no /proc, which nobody can write to")
def test_an_unwritable_folder_is_refused() -> None:
    with pytest.raises(StorageError, match="cannot be written"):
        DataFolder(Path("/proc/self/ghostcandle")).ensure()


@pytest.mark.hostile
def test_nothing_is_begun_in_the_place_of_a_disk_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, listed = tmp_path / "my disk", tmp_path / "fstab"
    disk.mkdir()
    listed.write_text(
        f"# <file system> <mount point>\nUUID=1 / ext4\n\nUUID=2 {tmp_path}/my\\040disk ext4 defaults 0 2\n"
    )
    monkeypatch.setattr(folders, "_FSTAB", listed)
    for root in (disk, disk / "deep" / "data"):
        with pytest.raises(StorageError, match="is not mounted"):
            DataFolder(root).ensure()
    assert not any(disk.iterdir())
    (disk / "lost+found").mkdir()
    DataFolder(disk / "deep" / "data").ensure()


@pytest.mark.hostile
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files without a name")
def test_a_kill_during_the_check_leaves_no_file(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Path] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: seen.extend(path for path in folder.root.rglob("*") if path.is_file())
    )
    folder.ensure()
    assert seen == []


def test_a_checkpoint_file_is_named_relative_to_the_root(folder: DataFolder) -> None:
    path = folder.checkpoints("20261121-041500-ab12") / "10.safetensors"
    name = folder.relative(path)
    assert name == "models/transformer/20261121-041500-ab12/10.safetensors"
    assert folder.absolute(name) == path


def test_models_may_be_a_link_to_another_disk(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    for each in (folder.root, tmp_path / "large"):
        each.mkdir()
    folder.models.symlink_to(tmp_path / "large")
    folder.ensure()
    path = folder.checkpoints("20261121-041500-ab12") / "10.safetensors"
    assert folder.absolute(folder.relative(path)) == path


@pytest.mark.parametrize("name", ["../outside", "/etc/hostname", "models/../../outside"])
def test_a_path_outside_the_folder_is_refused(folder: DataFolder, name: str) -> None:
    with pytest.raises(StorageError, match="outside"):
        folder.absolute(name)


@pytest.mark.parametrize("run_id", ["", ".", "..", "a/b", "a\\b", "c:d"])
def test_an_invalid_run_id_is_refused(folder: DataFolder, run_id: str) -> None:
    with pytest.raises(ValueError, match="cannot name a folder"):
        folder.checkpoints(run_id)


def test_a_folder_whose_checkpoints_could_not_be_read_again_is_refused(tmp_path: Path) -> None:
    """safetensors writes to a path that is not UTF-8, and does not read from it: each start began a new run."""
    root = tmp_path / "data\udcff"
    with pytest.raises(StorageError, match="not UTF-8"):
        DataFolder(root).ensure()
    assert not root.exists()
