"""Atomic file writes: after a power cut a file has either its old or its new content."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

_log = logging.getLogger("ghostcandle")


def write_durably(path: Path, data: bytes, *, is_private: bool = True) -> None:
    """Write atomically: temporary file, fsync, replace, fsync of the folder. The folder must exist.

    is_private: False for a file that the user saves under a name: it gets the default mode, or the mode of the file
    that it replaces. Raises OSError only if `path` was not replaced, and then leaves no temporary file.
    """
    write_pieces_durably(path, (data,), is_private=is_private)


def write_pieces_durably(path: Path, pieces: Iterable[bytes | memoryview], *, is_private: bool = True) -> None:
    """`write_durably` for generated content. Errors of the generator are passed on; no temporary file is left."""
    with replacing(path, is_private=is_private) as file:
        for piece in pieces:
            file.write(piece)


@contextlib.contextmanager
def replacing(path: Path, *, is_private: bool = True) -> Iterator[BinaryIO]:
    """An open temporary file that replaces `path`, as durably as `write_durably`, when the block ends; deleted if the
    block raises."""
    file: BinaryIO
    if is_private:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".tmp")
        temporary, file = Path(name), os.fdopen(handle, "wb")
    else:
        temporary, file = _of_the_user(path)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def _of_the_user(path: Path) -> tuple[Path, BinaryIO]:
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}.tmp")
    file = temporary.open("xb")  # the system applies the umask: reading it would change it for all threads
    with contextlib.suppress(OSError):  # no file to replace, or a disk without modes
        temporary.chmod(stat.S_IMODE(path.stat().st_mode))
    return temporary, file


def prove_writable(folder: Path) -> None:
    """Raises OSError unless a file can be written in the folder. None is left there."""
    with tempfile.TemporaryFile(dir=folder) as file:  # without a name, where the disk can: a kill leaves nothing
        file.write(b"written")
        file.flush()
        os.fsync(file.fileno())


def sha256_of(path: Path) -> str:
    """The SHA-256 of the file in lower-case hex. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Make the new name durable. Windows needs no such call, and shared folders and some network disks refuse it. No
    error is raised: the file is in its place already, and a failure reported now would be false."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError as error:
        _log.debug("The folder %s was not synced: %s", folder, error)
