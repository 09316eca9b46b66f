"""Atomic file writes: file modes, no remains of a failed write, and no failure after a success."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from core.files.durable import write_durably, write_pieces_durably

has_modes = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")


@contextmanager
def umask(hidden: int) -> Iterator[None]:
    before = os.umask(hidden)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@has_modes
@pytest.mark.parametrize(("hidden", "usual"), [(0o022, 0o644), (0o002, 0o664), (0o077, 0o600)])
def test_user_exports_follow_the_umask_and_stored_files_do_not(tmp_path: Path, hidden: int, usual: int) -> None:
    with umask(hidden):
        write_durably(tmp_path / "picture.png", b"picture", is_private=False)
        write_durably(tmp_path / "weights", b"weights")
    assert (mode(tmp_path / "picture.png"), mode(tmp_path / "weights")) == (usual, 0o600)


@has_modes
def test_a_replaced_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "view.csv"
    path.write_bytes(b"former")
    path.chmod(0o640)
    write_durably(path, b"new", is_private=False)
    assert (path.read_bytes(), mode(path)) == (b"new", 0o640)


@pytest.mark.parametrize("is_private", [True, False])
def test_a_failed_write_keeps_the_file_and_leaves_no_temporary_one(tmp_path: Path, *, is_private: bool) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise RuntimeError

    path = tmp_path / "view.csv"
    path.write_bytes(b"former")
    with pytest.raises(RuntimeError):
        write_pieces_durably(path, pieces(), is_private=is_private)
    assert path.read_bytes() == b"former" and list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_synced_is_no_failure_of_the_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sync(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(os, "fsync", sync)
    write_durably(tmp_path / "weights", b"new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("weights", b"new")]
