"""Files written so that a power cut leaves the old content or the new one."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO


def write_durably(path: Path, data: bytes, *, is_private: bool = True) -> None:
    """Write the file in one piece: temporary file, fsync, replace, fsync of the folder. Its folder must be there.

    is_private: False for what a user saves somewhere by a name: it gets the mode of any program's new file there, or
    keeps that of the file in whose place it comes. Raises OSError; nothing is left behind then.
    """
    write_pieces_durably(path, (data,), is_private=is_private)


def write_pieces_durably(path: Path, pieces: Iterable[bytes | memoryview], *, is_private: bool = True) -> None:
    """The same for what is made while it is written. What making it raises is passed on; nothing is left behind."""
    temporary, file = _private(path) if is_private else _of_the_user(path)
    try:
        with file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _private(path: Path) -> tuple[Path, BinaryIO]:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
    return Path(temporary), os.fdopen(handle, "wb")


def _of_the_user(path: Path) -> tuple[Path, BinaryIO]:
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}.tmp")
    file = temporary.open("xb")  # the umask is for the system to see to: asking for it changes it for all threads
    with contextlib.suppress(OSError):  # there is none to keep, or a disk without modes
        temporary.chmod(stat.S_IMODE(path.stat().st_mode))
    return temporary, file


def sync_folder(folder: Path) -> None:
    """Make the new name durable. Windows has no such call, and does it by itself."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
