"""One owner per data folder: a file lock that the operating system releases when its process ends."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from core.domain.clock import Clock, SystemClock
from core.storage.errors import StorageError
from core.storage.folder import DataFolder


@dataclass(frozen=True, slots=True)
class FolderOwner:
    """An owner as it describes itself in the folder. is_ready: it has checked the database, and others may write to
    it."""

    pid: int
    role: str
    since_ms: int
    is_ready: bool = False


class FolderInUse(StorageError):  # noqa: N818 - a state of the folder, not an error
    """Another process owns the folder. `owner` is None if unknown."""

    def __init__(self, sentence: str, owner: FolderOwner | None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.owner = owner


class Ownership:
    """Held until `close`, or until the process ends. A context manager; closing twice is harmless. left_behind: an
    owner that never released the folder: it crashed, was killed, or the machine shut down."""

    def __init__(self, lock: FileLock, description: Path, left_behind: FolderOwner | None) -> None:
        self._lock = lock
        self._description = description
        self.left_behind = left_behind

    def close(self) -> None:
        """Release the folder. Only possible in the process that took it."""
        if self._lock.is_locked:
            self._description.unlink(missing_ok=True)  # before the lock: afterwards it belongs to the next owner
            self._lock.release()

    def __enter__(self) -> Ownership:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def own(folder: DataFolder, role: str, clock: Clock | None = None) -> Ownership:
    """Become the folder's owner, without waiting. `role` is a display name such as ``window``.

    Raises FolderInUse, and StorageError if the folder cannot be locked. Call `ensure` on the folder first.
    """
    # A lock by the file's existence would outlive a killed process, so that fallback is off.
    lock = FileLock(folder.owner_lock, mode=0o600, blocking=False, thread_local=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise _in_use(folder) from None
    except OSError as error:
        raise _cannot_lock(folder, error) from error
    left_behind = owner_of(folder)
    try:
        _describe(folder.owner, FolderOwner(os.getpid(), role, (clock or SystemClock()).now_ms()))
    except OSError as error:
        lock.release()
        raise _cannot_lock(folder, error) from error
    return Ownership(lock, folder.owner, left_behind)


def owner_of(folder: DataFolder) -> FolderOwner | None:
    """The owner that the folder names: if the folder is not locked, it never released it."""
    try:
        owner = json.loads(folder.owner.read_text(encoding="utf-8"))
        return FolderOwner(int(owner["pid"]), str(owner["role"]), int(owner["since_ms"]), owner.get("is_ready") is True)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def mark_ready(folder: DataFolder) -> None:
    """Record that this process, if it owns the folder, has checked the database. Raises OSError."""
    owner = owner_of(folder)
    if owner is not None and owner.pid == os.getpid():
        _describe(folder.owner, replace(owner, is_ready=True))


def _describe(path: Path, owner: FolderOwner) -> None:
    temporary = path.with_name(path.name + ".tmp")  # only the owner writes, so a fixed name is enough
    temporary.write_text(json.dumps(asdict(owner)), encoding="utf-8")
    temporary.replace(path)


def _in_use(folder: DataFolder) -> FolderInUse:
    owner = owner_of(folder)
    if owner is not None and not psutil.pid_exists(owner.pid):
        owner = None
    who = "another process" if owner is None else f"a {owner.role} (process {owner.pid})"
    return FolderInUse(
        f"The data folder {folder.root} is in use by {who}. Close that first, or choose another with --data-dir.", owner
    )


def _cannot_lock(folder: DataFolder, error: OSError) -> StorageError:
    return StorageError(
        f"The data folder {folder.root} cannot be locked ({error.strerror or error}). "
        "Check its permissions and its disk, or choose another with --data-dir."
    )
