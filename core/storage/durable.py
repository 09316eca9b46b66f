"""Files written so that a power cut leaves the old content or the new one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path


def write_durably(path: Path, data: bytes) -> None:
    """Write the file in one piece: temporary file, fsync, replace, fsync of the folder. Its folder must be there.

    Raises OSError; nothing is left behind then.
    """
    write_pieces_durably(path, (data,))


def write_pieces_durably(path: Path, pieces: Iterable[bytes | memoryview]) -> None:
    """The same for what is made while it is written. What making it raises is passed on; nothing is left behind."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make the new name durable. Windows has no such call, and does it by itself."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
