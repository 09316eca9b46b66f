"""A data folder has one owner at a time, even after crashes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from core.domain.clock import ManualClock
from core.storage.errors import StorageError
from core.storage.folder import DataFolder
from core.storage.ownership import FolderInUse, FolderOwner, own, owner_of
from tests.core.storage.processes import child

SINCE_MS = 1_764_417_600_000


def test_a_second_owner_is_refused_until_the_first_releases(folder: DataFolder) -> None:
    with own(folder, "window", ManualClock(SINCE_MS)):
        assert json.loads(folder.owner.read_text()) == {
            "pid": os.getpid(),
            "role": "window",
            "since_ms": SINCE_MS,
            "is_ready": False,
        }
        with pytest.raises(FolderInUse, match="in use by a window") as caught:
            own(folder, "headless")
        assert caught.value.owner == owner_of(folder) == FolderOwner(os.getpid(), "window", SINCE_MS)
        assert json.loads(folder.owner.read_text())["role"] == "window"
    assert not folder.owner.exists()
    own(folder, "headless").close()


def test_closing_twice_does_not_take_the_folder_from_the_next_owner(folder: DataFolder) -> None:
    first = own(folder, "window")
    first.close()
    with own(folder, "headless"):
        first.close()
        assert json.loads(folder.owner.read_text())["role"] == "headless"
        with pytest.raises(FolderInUse):
            own(folder, "window")


def test_two_folders_have_two_owners(folder: DataFolder, tmp_path: Path) -> None:
    second = DataFolder(tmp_path / "second")
    second.ensure()
    with own(folder, "window"), own(second, "window"):
        pass


@pytest.mark.parametrize("text", ["", "[]", "{", '{"pid": "x", "role": 1}', '{"role": "window"}'])
def test_a_broken_owner_description_does_not_prevent_ownership(folder: DataFolder, text: str) -> None:
    folder.owner.write_text(text)
    with own(folder, "window"):
        folder.owner.write_text(text)
        with pytest.raises(FolderInUse, match="another process") as caught:
            own(folder, "headless")
        assert caught.value.owner is None


def test_a_stale_owner_description_is_ignored(folder: DataFolder) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with own(folder, "window"):
        folder.owner.write_text(json.dumps({"pid": gone.pid, "role": "window", "since_ms": SINCE_MS}))
        with pytest.raises(FolderInUse, match="another process"):
            own(folder, "headless")


def test_a_missing_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="cannot be locked") as caught:
        own(DataFolder(tmp_path / "file" / "data"), "window")
    assert not isinstance(caught.value, FolderInUse)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL is POSIX")
def test_a_killed_owner_frees_the_folder_although_its_child_lives(folder: DataFolder) -> None:
    from tests.core.storage import children  # noqa: PLC0415 - it does not import on Windows

    with child(children.own_with_a_child, folder.root) as owner:
        grandchild = psutil.Process(int(str(owner.receive())))
        try:
            assert owner.receive() == "running"
            with pytest.raises(FolderInUse) as caught:
                own(folder, "headless")
            assert caught.value.owner is not None and caught.value.owner.pid == owner.process.pid
            owner.kill()
            assert json.loads(folder.owner.read_text())["role"] == "window"  # it had no time to take that back
            with own(folder, "headless"):
                assert json.loads(folder.owner.read_text())["role"] == "headless"
            assert grandchild.is_running()
        finally:
            grandchild.kill()
